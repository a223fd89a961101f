#include "parakeet-model.h"

#include "log.h"

#include <string>

namespace transcribe {

Napi::Function ParakeetModel::define(Napi::Env env) {
    return DefineClass(env, "ParakeetModel", {InstanceMethod<&ParakeetModel::dispose>("dispose")});
}

ParakeetModel::ParakeetModel(const Napi::CallbackInfo & info) : Napi::ObjectWrap<ParakeetModel>(info) {
    const std::string path = info[0].As<Napi::String>().Utf8Value();
    parakeet_context_params params = parakeet_context_default_params();
    params.use_gpu = info[1].As<Napi::Object>().Get("useGpu").ToBoolean().Value();

    take_logged_errors();
    parakeet_context * context = parakeet_init_from_file_with_params_no_state(path.c_str(), params);
    if (context == nullptr) {
        throw Napi::Error::New(info.Env(), take_logged_errors());
    }
    context_ = std::shared_ptr<parakeet_context>(context, parakeet_free);
}

std::shared_ptr<parakeet_context> ParakeetModel::context(Napi::Env env) const {
    if (context_ == nullptr) {
        throw Napi::Error::New(env, "the model was disposed; open it again");
    }
    return context_;
}

Napi::Value ParakeetModel::dispose(const Napi::CallbackInfo & info) {
    context_.reset();
    return info.Env().Undefined();
}

}  // namespace transcribe
