#include "rows.h"

#if defined(__x86_64__)

#include "avx512.h"
#include "bfloat16-tile.h"
#include "layer-steps.h"
#include "quantized.h"

#include <algorithm>
#include <vector>

namespace transcribe {

namespace {

constexpr size_t lanes = 16;
// Uses 24 of the 32 registers as accumulators of 16 lanes.
constexpr size_t rows = 6;
constexpr size_t columns = 4;
constexpr size_t panel = columns * lanes;

// Multiplies rows [first, first + rows) with a panel of 64 columns. Repeats the last row if there are fewer.
AVX512 void multiply_tile(const Bfloat16 * const * inputs, const Bfloat16 * matrix, const float * bias, size_t pairs,
                          float * const * outputs) {
    __m512 sums[rows][columns];
    for (auto & row : sums) {
        for (size_t c = 0; c < columns; c++) {
            row[c] = _mm512_loadu_ps(bias + c * lanes);
        }
    }
    const Bfloat16 * const weights[] = {matrix, matrix + 2 * lanes, matrix + 4 * lanes, matrix + 6 * lanes};
    add_products<rows, columns>([inputs](size_t r) { return inputs[r]; }, weights, 2 * panel, pairs, sums);
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            _mm512_storeu_ps(outputs[r] + c * lanes, sums[r][c]);
        }
    }
}

}  // namespace

void multiply(const Bfloat16 * input, const Weights & weights, float * output, size_t count) {
    const auto & [matrix, bias, inputs, outputs] = weights;
    for (size_t column = 0; column < outputs; column += panel) {
        for (size_t row = 0; row < count; row += rows) {
            const Bfloat16 * from[rows];
            float * to[rows];
            for (size_t r = 0; r < rows; r++) {
                const size_t position = std::min(row + r, count - 1);
                from[r] = input + position * inputs;
                to[r] = output + position * outputs + column;
            }
            multiply_tile(from, matrix + column * inputs, bias + column, inputs / 2, to);
        }
    }
}

AVX512 void round_to_bfloat16(const float * input, Bfloat16 * output, size_t count) {
    for (size_t at = 0; at < count; at += lanes) {
        store(output + at, _mm512_loadu_ps(input + at));
    }
}

AVX512 void add(const float * input, const float * product, float * output, size_t count) {
    for (size_t at = 0; at < count; at += lanes) {
        _mm512_storeu_ps(output + at, _mm512_add_ps(_mm512_loadu_ps(input + at), _mm512_loadu_ps(product + at)));
    }
}

void normalise(const float * input, const float * weight, const float * bias, Bfloat16 * output, size_t count, size_t width) {
    std::vector<float> row(width);
    for (size_t position = 0; position < count; position++) {
        normalize(input + position * width, {weight, bias}, width, row.data());
        round_to_bfloat16(row.data(), output + position * width, width);
    }
}

void activate(const float * input, Bfloat16 * output, size_t count) {
    for (size_t at = 0; at < count; at += panel_outputs) {
        float numbers[panel_outputs];
        gelu_of_sums(input + at, nullptr, numbers);
        round_to_bfloat16(numbers, output + at, panel_outputs);
    }
}

}  // namespace transcribe

#endif
