#pragma once

#include <cstddef>

namespace transcribe {

// Width of an attention head; the same in all sizes of Whisper.
constexpr size_t head_width = 64;

// Computes softmax attention between `count` positions: `input` is [count][query, key, value][heads][head_width], `output`
// [count][heads][head_width]. Multiplies in bfloat16 and sums in 32-bit floats where the CPU can, otherwise in 16-bit integers.
void attend(const float * input, float * output, size_t count, size_t heads, size_t threads);

}  // namespace transcribe
