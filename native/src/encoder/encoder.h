#pragma once

#include "encoded-windows.h"
#include "onnx-runtime.h"

#include <napi.h>

#include <functional>
#include <memory>
#include <string>

namespace transcribe {

// A model's encoder, computed by ONNX Runtime. The states share its weights; the last state frees them.
class Encoder : public Napi::ObjectWrap<Encoder> {
public:
    static Napi::Function define(Napi::Env env);

    // new Encoder({ library, model, threads, mels, width })
    explicit Encoder(const Napi::CallbackInfo & info);

    // The part that running jobs share.
    struct Core {
        Core(const std::string & library, const std::string & model, int threads, int mels, int width);

        const OnnxRuntime & runtime;
        const std::shared_ptr<OnnxRuntime::Session> session;
        const int mels;
        const int width;
        // Separate from the windows of the model's own encoder, whose numbers differ.
        const std::shared_ptr<EncodedWindows> windows = std::make_shared<EncodedWindows>();
    };

    // Returns the weights. Throws if the encoder was disposed.
    std::shared_ptr<Core> core(Napi::Env env) const;

private:
    Napi::Value dispose(const Napi::CallbackInfo & info);

    std::shared_ptr<Core> core_;
};

// Returns the forms of an encoder that this CPU can run, the fastest first. The names are those of
// src/speech/recognizer/whisper/encoder.
Napi::Value encoder_forms(const Napi::CallbackInfo & info);

// One user of an encoder, whose calls can be aborted without affecting other users.
class EncoderUse {
public:
    explicit EncoderUse(std::shared_ptr<Encoder::Core> encoder);

    // Encodes a window: a spectrum of [mels][frames] into [frames / 2][width]. Returns false if it was aborted; throws if the
    // runtime fails.
    bool encode(const float * spectrum, int frames, float * output, const std::function<bool()> & should_end);

    // Aborts the running call, from any thread.
    void end();

private:
    const std::shared_ptr<Encoder::Core> encoder_;
    const std::shared_ptr<OnnxRuntime::RunOptions> options_;
};

}  // namespace transcribe
