#pragma once

#include <cstddef>
#include <cstdint>

namespace transcribe {

// Steps of an encoder over positions, [count][width], with widths that are multiples of 64. Factors are bfloat16,
// everything else is 32-bit float. All functions need AVX-512 with BF16.

using Bfloat16 = uint16_t;

// A matrix of weights in the layout that the products read, [outputs / 64][inputs / 2][64][2], and a bias for each output.
struct Weights {
    const Bfloat16 * matrix;
    const float * bias;
    size_t inputs;
    size_t outputs;
};

// Maximum number of positions that are multiplied at once, so that they and their products stay in the CPU's cache.
constexpr size_t block_positions = 96;

// Computes output = input · weights + bias for at most one block of positions.
void multiply(const Bfloat16 * input, const Weights & weights, float * output, size_t count);

void round_to_bfloat16(const float * input, Bfloat16 * output, size_t count);

// Computes output = input + product.
void add(const float * input, const float * product, float * output, size_t count);

// Computes Whisper's layer normalization.
void normalise(const float * input, const float * weight, const float * bias, Bfloat16 * output, size_t count, size_t width);

// Computes GELU.
void activate(const float * input, Bfloat16 * output, size_t count);

}  // namespace transcribe
