#pragma once

#include <napi.h>
#include <parakeet.h>

#include <atomic>
#include <memory>

namespace transcribe {

// The working memory of one recognition at a time over a shared Parakeet model.
class ParakeetState : public Napi::ObjectWrap<ParakeetState> {
public:
    static Napi::Function define(Napi::Env env);

    // new ParakeetState(model)
    explicit ParakeetState(const Napi::CallbackInfo & info);

    // The part that a running job shares, so that the state can be disposed meanwhile.
    struct Core {
        explicit Core(std::shared_ptr<parakeet_context> context);
        ~Core();
        Core(const Core &) = delete;
        Core & operator=(const Core &) = delete;

        const std::shared_ptr<parakeet_context> context;
        parakeet_state * const state;
        std::atomic<bool> abort{false};
        bool busy = false; // used by the JavaScript thread only
    };

private:
    Napi::Value encode(const Napi::CallbackInfo & info);
    Napi::Value transcribe(const Napi::CallbackInfo & info);
    Napi::Value abort(const Napi::CallbackInfo & info);
    Napi::Value dispose(const Napi::CallbackInfo & info);

    // Returns the core, marked busy. Throws if it is busy or disposed.
    std::shared_ptr<Core> begin(Napi::Env env);

    std::shared_ptr<Core> core_;
};

}  // namespace transcribe
