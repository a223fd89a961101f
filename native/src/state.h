#pragma once

#include "encoded-windows.h"
#include "encoder.h"

#include <napi.h>
#include <whisper.h>

#include <atomic>
#include <memory>
#include <vector>

namespace transcribe {

// The working memory of one transcription at a time over a shared model.
class State : public Napi::ObjectWrap<State> {
public:
    static Napi::Function define(Napi::Env env);

    // new State(model, encoder or undefined)
    explicit State(const Napi::CallbackInfo & info);

    // What a running job holds on to, so that disposing the state under it is safe.
    struct Core {
        Core(std::shared_ptr<whisper_context> context, std::shared_ptr<EncodedWindows> windows,
             std::unique_ptr<EncoderUse> encoder);
        ~Core();
        Core(const Core &) = delete;
        Core & operator=(const Core &) = delete;

        const std::shared_ptr<whisper_context> context;
        whisper_state * const state;
        std::atomic<bool> abort{false};
        bool busy = false; // touched by the JavaScript thread alone

        // What the last window was encoded into.
        std::vector<float> output() const;
        // Keeps the window that the language was just asked for: it will be read.
        void keep_window();
        // Makes the running call end soon.
        void end();

    private:
        static whisper_encoder_result encode(const float * spectrum, int frames, float * output, void * core);

        const std::shared_ptr<EncodedWindows> windows_;
        // null: whisper.cpp's own
        const std::unique_ptr<EncoderUse> encoder_;
        // these are touched by the job's thread alone
        bool encoder_failed_ = false;
        std::vector<float> spectrum_;
    };

private:
    Napi::Value encode(const Napi::CallbackInfo & info);
    Napi::Value detect_language(const Napi::CallbackInfo & info);
    Napi::Value transcribe(const Napi::CallbackInfo & info);
    Napi::Value abort(const Napi::CallbackInfo & info);
    Napi::Value dispose(const Napi::CallbackInfo & info);

    // The core, marked busy; throws where it is busy already or gone.
    std::shared_ptr<Core> begin(Napi::Env env);

    std::shared_ptr<Core> core_;
};

}  // namespace transcribe
