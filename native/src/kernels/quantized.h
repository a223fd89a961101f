#pragma once

#include "aligned.h"

#include <cstddef>
#include <cstdint>

struct ggml_tensor;

namespace transcribe {

// Products in 8 bits: numbers in blocks with one scale each, sums of 32 bits within a block. All functions need one of the kinds
// of instructions; their arguments' widths are multiples of a block's. With AVX2, numbers have 7 bits: see kernels/lanes/for-each.h.

// ggml's blocks.
constexpr size_t block_width = 32;
// The blocks of weights that are quantized for Whisper: the wider they are, the less time the scales take. The error of the
// encoder's output is 3.2 % with 64, 3.9 % with 128 and 4.4 % with 256.
constexpr size_t wide_block_width = 128;
// Outputs that are computed at once.
constexpr size_t panel_outputs = 32;

// Rows that are multiplied at once.
constexpr size_t rows_at_once = 6;

// Rows of numbers in 8 bits. The last ones may be used together with rows after them, whose results are not used.
class QuantizedRows {
public:
    // A block's scale, and what the product adds for it.
    struct Scale {
        float scale;
        union {
            int32_t offset; // AVX-512: -128 times the sum of the block's numbers, since weights are stored with 128 added
            float least;    // others: the block's smallest number, which is stored as 0
        };
    };

    QuantizedRows(size_t count, size_t width, size_t block = block_width)
        : block_(block), blocks_(width / block), numbers_(buffer<int8_t>((count + rows_at_once - 1) * width)),
          scales_(buffer<Scale>((count + rows_at_once - 1) * blocks_)) {}

    // Returns the width of a block.
    size_t block() const { return block_; }
    size_t blocks() const { return blocks_; }
    int8_t * numbers(size_t row) const { return numbers_.get() + row * blocks_ * block_; }
    Scale * scales(size_t row) const { return scales_.get() + row * blocks_; }

private:
    size_t block_;
    size_t blocks_;
    Buffer<int8_t> numbers_;
    Buffer<Scale> scales_;
};

// One block of inputs of a panel's outputs, in the order in which the product reads it.
template <size_t width> struct alignas(64) PanelBlockOf {
    uint8_t numbers[width / 4][2][64]; // four inputs of 16 outputs each; with AVX-512, 128 is added
    float scales[panel_outputs];
    float sums[panel_outputs]; // of the weights; not with AVX-512
};
using PanelBlock = PanelBlockOf<block_width>;
using WidePanelBlock = PanelBlockOf<wide_block_width>;

// Reports whether a matrix of weights has a form that can be multiplied: Q8_0, Q5_0 or Q4_0.
bool can_multiply(const ggml_tensor * weights);

// Unpacks the weights of 16 outputs from `first` and of 16 outputs from `second`. Their numbers stay the same.
void pack_panel(const ggml_tensor * weights, size_t first, size_t second, PanelBlock * panel);

// Receives the sums of a row and a panel.
using TakeSums = void (*)(const void * self, size_t row, const float * sums);

// Multiplies rows [0, count) with a panel, whose blocks of inputs are counted, and calls `take(self, row, sums)` for each.
void multiply_panel(const QuantizedRows & rows, size_t count, const PanelBlock * panel, size_t blocks, TakeSums take,
                    const void * self);
void multiply_panel(const QuantizedRows & rows, size_t count, const WidePanelBlock * panel, size_t blocks, TakeSums take,
                    const void * self);

// Computes output[row][i] = input[row] · weights[i] for one of `parts` shares of the rows; strides are in floats.
void multiply_rows(const ggml_tensor * weights, const float * input, size_t input_stride, size_t count, float * output,
                   size_t output_stride, size_t part, size_t parts);

// Quantizes `count` numbers into a row, from a block on.
void quantize(const float * input, size_t count, const QuantizedRows & rows, size_t row, size_t first_block = 0);

}  // namespace transcribe
