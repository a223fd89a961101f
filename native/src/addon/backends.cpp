#include "backends.h"

#include "kernels/lanes/instructions.h"
#include "log.h"

#include <dlfcn.h>
#include <ggml-backend.h>

#include <string>

namespace transcribe {

namespace {

const char * kind_of(enum ggml_backend_dev_type type) {
    switch (type) {
        case GGML_BACKEND_DEVICE_TYPE_CPU:
            return "cpu";
        case GGML_BACKEND_DEVICE_TYPE_GPU:
            return "gpu";
        case GGML_BACKEND_DEVICE_TYPE_IGPU:
            return "igpu";
        default:
            return "accelerator";
    }
}

}  // namespace

Napi::Value check_backend(const Napi::CallbackInfo & info) {
    const std::string path = info[0].As<Napi::String>().Utf8Value();
    void * library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw Napi::Error::New(info.Env(), "cannot open " + path + ": " + dlerror());
    }
    const auto * identity = static_cast<const char *>(dlsym(library, "transcribe_ggml"));
    const bool fits = identity != nullptr && std::string(identity) == TRANSCRIBE_GGML;
    // A matching library is loaded next, so it stays open.
    if (!fits) {
        dlclose(library);
    }
    return Napi::Boolean::New(info.Env(), fits);
}

Napi::Value load_backend(const Napi::CallbackInfo & info) {
    const std::string path = info[0].As<Napi::String>().Utf8Value();
    take_logged_errors();
    ggml_backend_reg_t backend = ggml_backend_load(path.c_str());
    if (backend != nullptr && ggml_backend_reg_dev_count(backend) > 0) {
        return info.Env().Undefined();
    }
    const std::string why = take_logged_errors();
    const std::string what = backend == nullptr ? "cannot load the backend " + path : "it finds no GPU that it can use";
    throw Napi::Error::New(info.Env(), what + (why.empty() ? "" : ": " + why));
}

Napi::Value cpu_score(const Napi::CallbackInfo & info) {
    const std::string path = info[0].As<Napi::String>().Utf8Value();
    void * library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw Napi::Error::New(info.Env(), "cannot open " + path + ": " + dlerror());
    }
    // The symbol that ggml's own loader uses.
    auto * score = reinterpret_cast<int (*)()>(dlsym(library, "ggml_backend_score"));
    const int result = score != nullptr ? score() : 0;
    dlclose(library);
    return Napi::Number::New(info.Env(), result);
}

Napi::Value instructions_in_use(const Napi::CallbackInfo & info) {
    return Napi::String::New(info.Env(), name_of(instructions()));
}

Napi::Value list_devices(const Napi::CallbackInfo & info) {
    const Napi::Env env = info.Env();
    Napi::Array devices = Napi::Array::New(env);
    for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        ggml_backend_dev_props properties;
        ggml_backend_dev_get_props(device, &properties);
        Napi::Object entry = Napi::Object::New(env);
        entry.Set("name", properties.name);
        entry.Set("description", properties.description);
        entry.Set("backend", ggml_backend_reg_name(ggml_backend_dev_backend_reg(device)));
        entry.Set("kind", kind_of(properties.type));
        entry.Set("address", properties.device_id == nullptr ? "" : properties.device_id);
        entry.Set("memoryFreeBytes", Napi::Number::New(env, static_cast<double>(properties.memory_free)));
        entry.Set("memoryTotalBytes", Napi::Number::New(env, static_cast<double>(properties.memory_total)));
        devices.Set(static_cast<uint32_t>(i), entry);
    }
    return devices;
}

}  // namespace transcribe
