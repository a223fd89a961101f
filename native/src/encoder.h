#pragma once

#include "encoded-windows.h"
#include "onnx-runtime.h"

#include <napi.h>

#include <functional>
#include <memory>
#include <string>

namespace transcribe {

// A model's encoder as ONNX Runtime computes it. The weights are shared by the states and freed with the last of them.
class Encoder : public Napi::ObjectWrap<Encoder> {
public:
    static Napi::Function define(Napi::Env env);

    // new Encoder({ library, model, threads, mels, width })
    explicit Encoder(const Napi::CallbackInfo & info);

    // What running jobs hold on to.
    struct Core {
        Core(const std::string & library, const std::string & model, int threads, int mels, int width);

        const OnnxRuntime & runtime;
        const std::shared_ptr<OnnxRuntime::Session> session;
        const int mels;
        const int width;
        // apart from those of the model's own encoder, whose numbers are others
        const std::shared_ptr<EncodedWindows> windows = std::make_shared<EncodedWindows>();
    };

    // The weights, or a thrown error once the encoder was disposed.
    std::shared_ptr<Core> core(Napi::Env env) const;

private:
    Napi::Value dispose(const Napi::CallbackInfo & info);

    std::shared_ptr<Core> core_;
};

// Which form of an encoder is the faster one on this processor, by its name in src/engine/encoder: "bfloat16" where it can run
// our own operators, else "float".
Napi::Value encoder_form(const Napi::CallbackInfo & info);

// One user of an encoder: its calls can be ended without touching those of others.
class EncoderUse {
public:
    explicit EncoderUse(std::shared_ptr<Encoder::Core> encoder);

    // Encodes a window: a spectrum of [mels][frames] into [frames / 2][width]. Returns false where it was to end; throws
    // where the runtime can't do it.
    bool encode(const float * spectrum, int frames, float * output, const std::function<bool()> & should_end);

    // Makes the running call end soon; from any thread.
    void end();

private:
    const std::shared_ptr<Encoder::Core> encoder_;
    const std::shared_ptr<OnnxRuntime::RunOptions> options_;
};

}  // namespace transcribe
