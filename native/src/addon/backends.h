#pragma once

#include <napi.h>

// The ggml backends: loading one from its library, rating a CPU variant, listing devices.
namespace transcribe {

// checkBackend(path): whether the backend in a shared library was built with this very ggml, and may be loaded; throws
// where the library can't be opened.
Napi::Value check_backend(const Napi::CallbackInfo & info);

// loadBackend(path): registers the backend in a shared library; throws where it can't be used here, or finds no device.
Napi::Value load_backend(const Napi::CallbackInfo & info);

// cpuScore(path): how well a CPU variant suits this CPU; 0 means that it must not be used on it.
// Opens the library only long enough to ask, and registers nothing.
Napi::Value cpu_score(const Napi::CallbackInfo & info);

// instructions(): the name of the kind of instructions that our kernels use, which is "none" before a CPU variant is loaded.
Napi::Value instructions_in_use(const Napi::CallbackInfo & info);

// devices(): what the registered backends can compute on.
Napi::Value list_devices(const Napi::CallbackInfo & info);

}  // namespace transcribe
