#pragma once

#include "encoder/onnx-runtime.h"

#include <napi.h>

#include <memory>
#include <string>

namespace transcribe {

// A model of speaker diarization, computed by ONNX Runtime. Each run has a thread of its own, and several may run at once.
// The Node package of ONNX Runtime computes on the JavaScript thread, on which meanwhile no other operation starts or ends.
class SpeakerModel : public Napi::ObjectWrap<SpeakerModel> {
public:
    static Napi::Function define(Napi::Env env);

    // new SpeakerModel({ library, model, threads })
    explicit SpeakerModel(const Napi::CallbackInfo & info);

private:
    // The part that running jobs share.
    struct Core {
        Core(const std::string & library, const std::string & model, int threads);

        const OnnxRuntime & runtime;
        const std::shared_ptr<OnnxRuntime::Session> session;
    };

    // run([{ name, data, dims }], output): Promise<{ data, dims }>
    Napi::Value run(const Napi::CallbackInfo & info);
    Napi::Value dispose(const Napi::CallbackInfo & info);

    std::shared_ptr<Core> core_;
};

}  // namespace transcribe
