#pragma once

#include <cstddef>
#include <cstdint>

namespace transcribe {

// Products of 8-bit weights (ggml's Q8_0) with few columns, such as the texts of a beam. They are bound by reading weights and
// by bringing them into the order of the instructions, so weights are stored in that order. They take the same memory.
//
// All functions need one of the kinds of instructions. The width of a row is a multiple of 32.
struct PackedWeights {
    // Reports whether this CPU can compute it.
    static bool is_supported();

    // Reorders rows of Q8_0 where they are, 16 at once. The rows after the last 16 stay as they are.
    static void pack(void * weights, size_t rows, size_t width);

    const void * weights;
    size_t rows;
    size_t width;

    // Computes a row in floats.
    void unpack(size_t row, float * output) const;

    // Computes output[column][row] for all columns of input[column][width], and for one of `parts` shares of the rows.
    void multiply(const float * input, size_t input_stride, size_t columns, float * output, size_t output_stride, size_t part,
                  size_t parts) const;
};

}  // namespace transcribe
