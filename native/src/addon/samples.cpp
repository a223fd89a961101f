#include "samples.h"

namespace transcribe {

std::vector<float> copy_samples(const Napi::Value & value) {
    const auto array = value.As<Napi::Float32Array>();
    // Bun fixes the samples' address when the buffer is requested, so this must come first.
    Napi::ArrayBuffer buffer = array.ArrayBuffer();
    const auto * first = reinterpret_cast<const float *>(static_cast<const char *>(buffer.Data()) + array.ByteOffset());
    return std::vector<float>(first, first + array.ElementLength());
}

}  // namespace transcribe
