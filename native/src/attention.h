#pragma once

#include <cstddef>

namespace transcribe {

// Whether this processor multiplies numbers of 16 bits as `attend` needs it (AVX-512 with BF16).
bool can_attend();

// The width of a head, the same in all sizes of Whisper.
constexpr size_t head_width = 64;

// Softmax attention of `count` positions to each other: `input` is [count][query, key, value][heads][head_width], `output`
// [count][heads][head_width]. Products are of bfloat16; their sums, and all else, of floats.
void attend(const float * input, float * output, size_t count, size_t heads, size_t threads);

}  // namespace transcribe
