#pragma once

#include <cstddef>

// The steps of an encoder's layer between its products: those of rows, and those of the sums of products. All functions need one
// of the kinds of instructions; widths are multiples of 16.
namespace transcribe {

// The weights of a layer normalization.
struct Norm {
    const float * weight;
    const float * bias;
};

// Computes a row's layer normalization; `output` may be `input`.
void normalize(const float * input, const Norm & norm, size_t width, float * output);

// Computes a row of a depthwise convolution over time, with SiLU after it; `weights` is [kernel][width]. `kernel` is odd; rows
// outside are zero.
void convolve(const float * input, size_t row, size_t count, const float * weights, const float * bias, size_t kernel,
              size_t width, float * output);

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

// A step, with its arguments; `column` is the first one of the 32 outputs.

// output = sums + bias
struct Store {
    float * output;
    const float * bias; // null: none
    size_t width;
    size_t column;
    static void take(const void * self, size_t row, const float * sums);
};

}  // namespace transcribe
