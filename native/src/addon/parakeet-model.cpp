#include "parakeet-model.h"

#include <string>

namespace transcribe {

Napi::Function ParakeetModel::define(Napi::Env env) {
    return DefineClass(env, "ParakeetModel", {InstanceMethod<&ParakeetModel::dispose>("dispose")});
}

ParakeetModel::ParakeetModel(const Napi::CallbackInfo & info) : SharedModel(info) {
    const std::string path = info[0].As<Napi::String>().Utf8Value();
    parakeet_context_params params = parakeet_context_default_params();
    params.use_gpu = info[1].As<Napi::Object>().Get("useGpu").ToBoolean().Value();
    const ProductKinds kinds = params.use_gpu ? ProductKinds{} : Conformer::supported();
    params.plain_quantized_weights = kinds.bytes;
    params.plain_float_weights = kinds.bfloat16;
    load(info.Env(), [&] { return parakeet_init_from_file_with_params_no_state(path.c_str(), params); }, parakeet_free);
    encoder_ = Conformer::create(context(info.Env()).get(), kinds);
}

Napi::Value ParakeetModel::dispose(const Napi::CallbackInfo & info) {
    encoder_.reset();
    return SharedModel::dispose(info);
}

}  // namespace transcribe
