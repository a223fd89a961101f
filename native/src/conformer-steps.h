#pragma once

#include "conformer-weights.h"
#include "quantized.h"
#include "relative-attention.h"

#include <cstddef>

// The steps of an encoder's layer between its products: those of rows, and those of the sums of products. All functions need
// AVX-512 with VNNI.
namespace transcribe {

// Computes a row's layer normalization; `output` may be `input`.
void normalize(const float * input, const ConformerWeights::Norm & norm, size_t width, float * output);

// Computes a row of a depthwise convolution over time, with SiLU after it. `kernel` is odd; rows outside are zero.
void convolve(const float * input, size_t row, size_t count, const ConformerWeights::Layer & layer, size_t kernel, size_t width,
              float * output);

// The sums of a panel are given to one of these, with its arguments; `column` is the panel's first one.

// output = sums + bias
struct Store {
    float * output;
    const float * bias; // null: none
    size_t width;
    size_t column;
    static void take(const void * self, size_t row, const float * sums);
};

// output = SiLU(sums), in 8 bits
struct Activate {
    const QuantizedRows & output;
    size_t column;
    static void take(const void * self, size_t row, const float * sums);
};

// output += sums · factor
struct AddTo {
    float * output;
    size_t width;
    float factor;
    size_t column;
    static void take(const void * self, size_t row, const float * sums);
};

// Of a panel of 16 values and their 16 gates, output = values · sigmoid(gates).
struct Gate {
    float * output;
    size_t width;
    size_t column;
    static void take(const void * self, size_t row, const float * sums);
};

// Stores keys or positions for attention.
struct Turn {
    TurnedVectors & output;
    size_t column;
    static void take(const void * self, size_t row, const float * sums);
};

// Stores values for attention: [head][count][head width].
struct SplitHeads {
    float * output;
    size_t count;
    size_t head_width;
    size_t column;
    static void take(const void * self, size_t row, const float * sums);
};

}  // namespace transcribe
