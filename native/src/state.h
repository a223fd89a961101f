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

    // The part that a running job shares, so that the state can be disposed meanwhile.
    struct Core {
        Core(std::shared_ptr<whisper_context> context, std::shared_ptr<EncodedWindows> windows,
             std::unique_ptr<EncoderUse> encoder);
        ~Core();
        Core(const Core &) = delete;
        Core & operator=(const Core &) = delete;

        const std::shared_ptr<whisper_context> context;
        whisper_state * const state;
        std::atomic<bool> abort{false};
        bool busy = false; // used by the JavaScript thread only

        // Returns the encoder's output of the last window.
        std::vector<float> output() const;
        // Stores the window whose language was detected: it is transcribed later.
        void keep_window();
        // Aborts the running call.
        void end();

    private:
        static whisper_encoder_result encode(const float * spectrum, int frames, float * output, void * core);

        const std::shared_ptr<EncodedWindows> windows_;
        // Null if whisper.cpp's own encoder is used.
        const std::unique_ptr<EncoderUse> encoder_;
        // Used by the job's thread only.
        bool encoder_failed_ = false;
        std::vector<float> spectrum_;
    };

private:
    Napi::Value encode(const Napi::CallbackInfo & info);
    Napi::Value detect_language(const Napi::CallbackInfo & info);
    Napi::Value transcribe(const Napi::CallbackInfo & info);
    Napi::Value abort(const Napi::CallbackInfo & info);
    Napi::Value dispose(const Napi::CallbackInfo & info);

    // Returns the core, marked busy. Throws if it is busy or disposed.
    std::shared_ptr<Core> begin(Napi::Env env);

    std::shared_ptr<Core> core_;
};

}  // namespace transcribe
