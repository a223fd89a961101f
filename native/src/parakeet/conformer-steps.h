#pragma once

#include "conformer-products.h"
#include "kernels/layer-steps.h"
#include "relative-attention.h"

#include <cstddef>

// The steps of Parakeet's layers that take the sums of products.
namespace transcribe {

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
