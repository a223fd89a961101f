#pragma once

#include <napi.h>

#include <vector>

namespace transcribe {

// A copy of a Float32Array. It costs a millisecond for half a minute, and the caller may do with its array what it likes.
std::vector<float> copy_samples(const Napi::Value & value);

}  // namespace transcribe
