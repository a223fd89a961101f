#pragma once

#include <cstddef>
#include <cstdint>

namespace transcribe {

// Steps of an encoder over positions, [count][width] with widths that are multiples of 64. What is multiplied is in
// bfloat16, all else in floats. All need AVX-512 with BF16.

using Bfloat16 = uint16_t;

// A matrix of weights as the products read it, [outputs / 64][inputs / 2][64][2], and a bias for each output.
struct Weights {
    const Bfloat16 * matrix;
    const float * bias;
    size_t inputs;
    size_t outputs;
};

// So many positions are multiplied at once, at most: they and what comes of them stay in the processor's cache.
constexpr size_t block_positions = 96;

// output = input · weights + bias; of a block of positions at most.
void multiply(const Bfloat16 * input, const Weights & weights, float * output, size_t count);

void round_to_bfloat16(const float * input, Bfloat16 * output, size_t count);

// output = input + product
void add(const float * input, const float * product, float * output, size_t count);

// Layer normalisation as whisper has it.
void normalise(const float * input, const float * weight, const float * bias, Bfloat16 * output, size_t count, size_t width);

// GELU
void activate(const float * input, Bfloat16 * output, size_t count);

}  // namespace transcribe
