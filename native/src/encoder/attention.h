#pragma once

#include <cstddef>

namespace transcribe {

// Width of an attention head; the same in all sizes of Whisper.
constexpr size_t head_width = 64;

// Queries, keys and values, each [count][heads][head_width] with a stride in floats between its positions.
struct AttentionInput {
    const float * queries;
    size_t query_stride;
    size_t query_count;
    const float * keys;
    const float * values;
    size_t stride;
    size_t count;
};

// Computes softmax attention: `output` is [query_count][heads][head_width]. Multiplies in bfloat16 and sums in 32-bit floats where
// the CPU can, otherwise in integers.
void attend(const AttentionInput & input, float * output, size_t heads, size_t threads);

// The same between `count` positions: `input` is [count][query, key, value][heads][head_width].
void attend(const float * input, float * output, size_t count, size_t heads, size_t threads);

}  // namespace transcribe
