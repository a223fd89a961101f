#pragma once

#include <napi.h>
#include <whisper.h>

#include <atomic>
#include <memory>

namespace transcribe {

// The working memory of one transcription at a time over a shared model.
class State : public Napi::ObjectWrap<State> {
public:
    static Napi::Function define(Napi::Env env);

    // new State(model)
    explicit State(const Napi::CallbackInfo & info);

    // What a running job holds on to, so that disposing the state under it is safe.
    struct Core {
        explicit Core(std::shared_ptr<whisper_context> context);
        ~Core();
        Core(const Core &) = delete;
        Core & operator=(const Core &) = delete;

        const std::shared_ptr<whisper_context> context;
        whisper_state * const state;
        std::atomic<bool> abort{false};
        bool busy = false; // touched by the JavaScript thread alone
    };

private:
    Napi::Value detect_language(const Napi::CallbackInfo & info);
    Napi::Value transcribe(const Napi::CallbackInfo & info);
    Napi::Value abort(const Napi::CallbackInfo & info);
    Napi::Value dispose(const Napi::CallbackInfo & info);

    // The core, marked busy; throws where it is busy already or gone.
    std::shared_ptr<Core> begin(Napi::Env env);

    std::shared_ptr<Core> core_;
};

}  // namespace transcribe
