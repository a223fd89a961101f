#pragma once

#include <napi.h>
#include <parakeet.h>

#include <memory>

namespace transcribe {

// A loaded Parakeet model. Its states share the weights; the last state frees them.
class ParakeetModel : public Napi::ObjectWrap<ParakeetModel> {
public:
    static Napi::Function define(Napi::Env env);

    // new ParakeetModel(path, { useGpu })
    explicit ParakeetModel(const Napi::CallbackInfo & info);

    // Returns the weights. Throws if the model was disposed.
    std::shared_ptr<parakeet_context> context(Napi::Env env) const;

private:
    Napi::Value dispose(const Napi::CallbackInfo & info);

    std::shared_ptr<parakeet_context> context_;
};

}  // namespace transcribe
