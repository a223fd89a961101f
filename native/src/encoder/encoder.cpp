#include "encoder.h"

#include "kernels/lanes/instructions.h"

#include <stdexcept>
#include <utility>
#include <vector>

namespace transcribe {

Encoder::Core::Core(const std::string & library, const std::string & model, int threads, int mels, int width)
    : runtime(OnnxRuntime::open(library)), session(runtime.load(model, threads)), mels(mels), width(width) {}

Napi::Function Encoder::define(Napi::Env env) {
    return DefineClass(env, "Encoder", {
        InstanceMethod<&Encoder::dispose>("dispose"),
    });
}

Encoder::Encoder(const Napi::CallbackInfo & info) : Napi::ObjectWrap<Encoder>(info) {
    const Napi::Object options = info[0].As<Napi::Object>();
    const auto text = [&](const char * name) { return options.Get(name).As<Napi::String>().Utf8Value(); };
    const auto number = [&](const char * name) { return options.Get(name).As<Napi::Number>().Int32Value(); };
    try {
        core_ = std::make_shared<Core>(text("library"), text("model"), number("threads"), number("mels"), number("width"));
    } catch (const Napi::Error &) {
        throw;
    } catch (const std::exception & error) {
        throw Napi::Error::New(info.Env(), error.what());
    }
}

std::shared_ptr<Encoder::Core> Encoder::core(Napi::Env env) const {
    if (core_ == nullptr) {
        throw Napi::Error::New(env, "the encoder was disposed; open it again");
    }
    return core_;
}

Napi::Value Encoder::dispose(const Napi::CallbackInfo & info) {
    core_.reset();
    return info.Env().Undefined();
}

Napi::Value encoder_forms(const Napi::CallbackInfo & info) {
    std::vector<const char *> names;
    switch (instructions()) {
    case Instructions::none: names = {"float"}; break;
    case Instructions::avx2: names = {"int7-signed", "float"}; break;
    case Instructions::avx_vnni: names = {"int8-signed", "float"}; break;
    case Instructions::avx512: names = {"int8", "float"}; break;
    case Instructions::bfloat16: names = {"int8", "bfloat16"}; break;
    }
    const auto forms = Napi::Array::New(info.Env(), names.size());
    for (size_t i = 0; i < names.size(); i++) {
        forms.Set(static_cast<uint32_t>(i), names[i]);
    }
    return forms;
}

EncoderUse::EncoderUse(std::shared_ptr<Encoder::Core> encoder)
    : encoder_(std::move(encoder)), options_(encoder_->runtime.run_options()) {}

bool EncoderUse::encode(const float * spectrum, int frames, float * output, const std::function<bool()> & should_end) {
    encoder_->runtime.allow(options_.get());
    // An abort that came before this call still counts.
    if (should_end()) {
        return false;
    }
    try {
        encoder_->runtime.run(encoder_->session.get(), options_.get(), spectrum, encoder_->mels, frames, output, frames / 2,
                              encoder_->width);
    } catch (const std::exception &) {
        if (should_end()) {
            return false;
        }
        throw;
    }
    return !should_end();
}

void EncoderUse::end() {
    encoder_->runtime.terminate(options_.get());
}

}  // namespace transcribe
