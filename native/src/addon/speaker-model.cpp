#include "speaker-model.h"

#include "job-state.h"
#include "samples.h"

#include <utility>
#include <vector>

namespace transcribe {

namespace {

// Copies an input: a Float32Array or a BigInt64Array with its dimensions.
OnnxRuntime::Array read_array(const Napi::Object & input) {
    OnnxRuntime::Array array;
    const Napi::Array dims = input.Get("dims").As<Napi::Array>();
    for (uint32_t at = 0; at < dims.Length(); ++at) {
        array.shape.push_back(dims.Get(at).As<Napi::Number>().Int64Value());
    }
    const auto data = input.Get("data").As<Napi::TypedArray>();
    if (data.TypedArrayType() == napi_float32_array) {
        array.floats = copy_samples(data);
    } else {
        const auto integers = data.As<Napi::BigInt64Array>();
        for (size_t at = 0; at < integers.ElementLength(); ++at) {
            array.integers.push_back(integers[at]);
        }
    }
    return array;
}

Napi::Value to_object(Napi::Env env, const OnnxRuntime::Array & array) {
    Napi::Array dims = Napi::Array::New(env, array.shape.size());
    for (uint32_t at = 0; at < array.shape.size(); ++at) {
        dims.Set(at, static_cast<double>(array.shape[at]));
    }
    Napi::Object object = Napi::Object::New(env);
    object.Set("data", to_float32_array(env, array.floats));
    object.Set("dims", dims);
    return object;
}

}  // namespace

SpeakerModel::Core::Core(const std::string & library, const std::string & model, int threads)
    : runtime(OnnxRuntime::open(library)), session(runtime.load(model, threads)) {}

Napi::Function SpeakerModel::define(Napi::Env env) {
    return DefineClass(env, "SpeakerModel", {
        InstanceMethod<&SpeakerModel::run>("run"),
        InstanceMethod<&SpeakerModel::dispose>("dispose"),
    });
}

SpeakerModel::SpeakerModel(const Napi::CallbackInfo & info) : Napi::ObjectWrap<SpeakerModel>(info) {
    const Napi::Object options = info[0].As<Napi::Object>();
    const auto text = [&](const char * name) { return options.Get(name).As<Napi::String>().Utf8Value(); };
    try {
        core_ = std::make_shared<Core>(text("library"), text("model"), options.Get("threads").As<Napi::Number>().Int32Value());
    } catch (const Napi::Error &) {
        throw;
    } catch (const std::exception & error) {
        throw Napi::Error::New(info.Env(), error.what());
    }
}

Napi::Value SpeakerModel::run(const Napi::CallbackInfo & info) {
    if (core_ == nullptr) {
        throw Napi::Error::New(info.Env(), "the model was disposed; open it again");
    }
    OnnxRuntime::Arrays inputs;
    const Napi::Array given = info[0].As<Napi::Array>();
    for (uint32_t at = 0; at < given.Length(); ++at) {
        const Napi::Object input = given.Get(at).As<Napi::Object>();
        inputs.emplace_back(input.Get("name").As<Napi::String>().Utf8Value(), read_array(input));
    }
    const auto result = std::make_shared<OnnxRuntime::Array>();
    JobSteps steps;
    steps.work = [core = core_, inputs = std::make_shared<const OnnxRuntime::Arrays>(std::move(inputs)),
                  output = info[1].As<Napi::String>().Utf8Value(),
                  result] { *result = core->runtime.run(core->session.get(), *inputs, output); };
    steps.settled = [] {};
    steps.result = [result](Napi::Env env) { return to_object(env, *result); };
    return start_job(info.Env(), "speaker-model", std::move(steps));
}

Napi::Value SpeakerModel::dispose(const Napi::CallbackInfo & info) {
    core_.reset();
    return info.Env().Undefined();
}

}  // namespace transcribe
