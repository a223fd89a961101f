#pragma once

#include <napi.h>

#include <vector>

namespace transcribe {

// Copies a Float32Array, so that the caller may reuse it. Takes a millisecond for 30 s of samples.
std::vector<float> copy_samples(const Napi::Value & value);

}  // namespace transcribe
