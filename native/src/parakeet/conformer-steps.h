#pragma once

#include "conformer-products.h"
#include "conformer-weights.h"
#include "relative-attention.h"

#include <cstddef>

// The steps of an encoder's layer between its products: those of rows, and those of the sums of products. All functions need one
// of the kinds of instructions; widths are multiples of 16.
namespace transcribe {

// Computes a row's layer normalization; `output` may be `input`.
void normalize(const float * input, const ConformerWeights::Norm & norm, size_t width, float * output);

// Computes a row of a depthwise convolution over time, with SiLU after it. `kernel` is odd; rows outside are zero.
void convolve(const float * input, size_t row, size_t count, const ConformerWeights::Layer & layer, size_t kernel, size_t width,
              float * output);

// Functions of the sums of 32 outputs, whose output starts at the first of them.

// output = sums + bias, which may be null
void store_sums(const float * sums, const float * bias, float * output);

// output += sums · factor
void add_sums(const float * sums, float factor, float * output);

// output += sums + bias
void add_sums_with_bias(const float * sums, const float * bias, float * output);

// output = SiLU(sums)
void silu_of_sums(const float * sums, float * output);

// output = GELU(sums + bias), which may be null
void gelu_of_sums(const float * sums, const float * bias, float * output);

// Of 16 values and 16 gates, output = values · sigmoid(gates).
void gate_sums(const float * sums, float * output);

// Multiplies rows with 32 outputs, or with 16 and 16 others, and gives the sums to a step.
template <typename Products, typename Step>
void multiply(const typename Products::Rows & rows, size_t count, const ggml_tensor * weights, size_t first, size_t second,
              typename Products::Scratch * scratch, const Step & step) {
    Products::multiply(rows, count, weights, first, second, scratch, Step::take, &step);
}

template <typename Products, typename Step>
void multiply(const typename Products::Rows & rows, size_t count, const ggml_tensor * weights,
              typename Products::Scratch * scratch, const Step & step) {
    multiply<Products>(rows, count, weights, step.column, step.column + panel_outputs / 2, scratch, step);
}

// The steps, with their arguments; `column` is the first one of the 32 outputs.

// output = sums + bias
struct Store {
    float * output;
    const float * bias; // null: none
    size_t width;
    size_t column;
    static void take(const void * self, size_t row, const float * sums);
};

// output = SiLU(sums), as rows of the next product
template <typename Products> struct Activate {
    const typename Products::Rows & output;
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
