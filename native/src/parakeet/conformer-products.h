#pragma once

#include "kernels/bfloat16-products.h"
#include "kernels/quantized.h"

#include <ggml.h>

#include <cstddef>

// The two kinds of product that an encoder may be computed with. A kind has the type of its rows and of a thread's memory. It
// stores numbers of a row from a column on, and multiplies rows with 16 outputs from `first` and 16 from `second`.
namespace transcribe {

// In 8 bits, with matrices as they are in the file.
struct ByteProducts {
    using Rows = QuantizedRows;
    using Scratch = PanelBlock;

    static size_t scratch_of(size_t inputs) { return inputs / block_width; }

    static void store(const float * input, size_t count, const Rows & rows, size_t row, size_t column = 0) {
        quantize(input, count, rows, row, column / block_width);
    }

    static void multiply(const Rows & rows, size_t count, const ggml_tensor * weights, size_t first, size_t second,
                         Scratch * panel, TakeSums take, const void * self) {
        pack_panel(weights, first, second, panel);
        multiply_panel(rows, count, panel, static_cast<size_t>(weights->ne[0]) / block_width, take, self);
    }
};

// In bfloat16, with packed matrices. A thread needs no memory.
struct Bfloat16Products {
    using Rows = Bfloat16Rows;
    struct Scratch {};

    static size_t scratch_of(size_t) { return 1; }

    static void store(const float * input, size_t count, const Rows & rows, size_t row, size_t column = 0) {
        round_to_bfloat16(input, rows.at(row) + column, count);
    }

    static void multiply(const Rows & rows, size_t count, const ggml_tensor * weights, size_t first, size_t second, Scratch *,
                         TakeSums take, const void * self) {
        multiply_packed(rows, count, weights, first, second, take, self);
    }
};

}  // namespace transcribe
