#include "model.h"

#include <algorithm>
#include <string>

namespace transcribe {

namespace {

Napi::Object to_javascript(Napi::Env env, const whisper_evaluations & evaluations) {
    Napi::Object result = Napi::Object::New(env);
    result.Set("graphs", static_cast<double>(evaluations.n_graphs));
    result.Set("evaluated", static_cast<double>(evaluations.n_evaluated));
    result.Set("items", static_cast<double>(evaluations.n_items));
    return result;
}

}  // namespace

int language_count(whisper_context * context) {
    // The vocabulary holds 51,765 text, task and timestamp tokens; a multilingual one has a token for
    // each language on top (OpenAI's tokenizer.py: 99 languages, since large-v3 100).
    constexpr int tokens_without_languages = 51765;
    if (whisper_is_multilingual(context) == 0) {
        return 1;
    }
    const int count = whisper_model_n_vocab(context) - tokens_without_languages - 1;
    return std::max(1, std::min(count, whisper_lang_max_id() + 1));
}

Napi::Function Model::define(Napi::Env env) {
    return DefineClass(env, "Model", {
        InstanceMethod<&Model::languages>("languages"),
        InstanceMethod<&Model::multilingual>("multilingual"),
        InstanceMethod<&Model::work>("work"),
        InstanceMethod<&Model::dispose>("dispose"),
    });
}

Model::Model(const Napi::CallbackInfo & info) : SharedModel(info) {
    const std::string path = info[0].As<Napi::String>().Utf8Value();
    const Napi::Object options = info[1].As<Napi::Object>();

    whisper_context_params params = whisper_context_default_params();
    params.use_gpu = options.Get("useGpu").ToBoolean().Value();
    params.flash_attn = options.Get("flashAttention").ToBoolean().Value();
    const int heads = options.Get("alignmentHeads").As<Napi::Number>().Int32Value();
    params.dtw_token_timestamps = heads != WHISPER_AHEADS_NONE;
    params.dtw_aheads_preset = static_cast<whisper_alignment_heads_preset>(heads);
    params.dtw_n_top = options.Get("alignmentLayers").As<Napi::Number>().Int32Value();
    const int slots = options.Get("slots").As<Napi::Number>().Int32Value();
    params.n_slots = slots > 1 ? slots : 0;

    load(info.Env(), [&] { return whisper_init_from_file_with_params_no_state(path.c_str(), params); }, whisper_free);
    if (slots > 1) {
        joints_ = std::make_shared<Joints>(slots);
    }
}

Napi::Value Model::languages(const Napi::CallbackInfo & info) {
    const auto weights = context(info.Env());
    Napi::Array codes = Napi::Array::New(info.Env());
    for (int id = 0; id < language_count(weights.get()); ++id) {
        codes.Set(static_cast<uint32_t>(id), whisper_lang_str(id));
    }
    return codes;
}

Napi::Value Model::multilingual(const Napi::CallbackInfo & info) {
    return Napi::Boolean::New(info.Env(), whisper_is_multilingual(context(info.Env()).get()) != 0);
}

Napi::Value Model::work(const Napi::CallbackInfo & info) {
    const whisper_work work = whisper_get_work(context(info.Env()).get());
    Napi::Object result = Napi::Object::New(info.Env());
    result.Set("graphs", static_cast<double>(work.n_graphs));
    result.Set("weightBytes", static_cast<double>(work.n_weight_bytes));
    result.Set("windows", to_javascript(info.Env(), work.windows));
    result.Set("steps", to_javascript(info.Env(), work.steps));
    result.Set("passes", to_javascript(info.Env(), work.passes));
    result.Set("stepNodes", std::to_string(work.step_nodes));
    return result;
}

Napi::Value Model::dispose(const Napi::CallbackInfo & info) {
    joints_.reset();
    return SharedModel::dispose(info);
}

}  // namespace transcribe
