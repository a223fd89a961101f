#pragma once

#include "kernels/aligned.h"

#include <cstddef>
#include <cstdint>

namespace transcribe {

// A window's cross-attention keys and values in 8 bits, for the steps of a beam. All its texts attend to the same 1500
// positions, so a step reads them once and multiplies bytes.
//
// Each channel of a head has a scale and a mean of its own over the window. A mean of keys adds the same to all scores, so it
// changes no weight. Queries and weights have 16 bits, or weights 15 without AVX-512: weights of one in a thousand add up
// over 1500 positions.
//
// All functions need one of the kinds of instructions.
class CrossAttention {
public:
    static constexpr size_t head_width = 64;
    // Maximum number of queries at once; more are divided.
    static constexpr size_t most_queries = 5;
    static constexpr size_t most_positions = 1536;

    // Throws if memory is short.
    CrossAttention(size_t layers, size_t heads);

    // Reports whether this CPU can compute it.
    static bool is_supported();

    // Stores a layer's keys and values, rows of 16-bit floats in which a head's channels follow each other. After them come
    // `padding` positions whose keys and values are zero.
    void pack(size_t layer, const uint16_t * keys, const uint16_t * values, size_t positions, size_t padding);

    // Computes softmax(scale · queries · keys) · values of a head. A query's channels follow each other; strides are in floats.
    void attend(size_t layer, size_t head, const float * queries, size_t query_stride, size_t count, float scale, float * output,
                size_t output_stride) const;

    // The positions of a head, in the order in which the products read them: this one with AVX-512, where 128 is added to the
    // keys; with AVX2 two numbers are side by side.
    struct Head {
        alignas(64) uint8_t keys[most_positions / 16][head_width / 4][16][4];
        alignas(64) int8_t values[head_width / 32][most_positions / 4][2][16][4];
        alignas(64) float key_scale[head_width], key_mean[head_width], value_scale[head_width], value_mean[head_width];
    };

private:
    const size_t heads_;
    size_t positions_ = 0;
    size_t padding_ = 0;
    const Buffer<Head> all_;
};

}  // namespace transcribe
