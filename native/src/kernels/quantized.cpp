#include "quantized.h"

#include <ggml.h>

#if defined(__x86_64__)

#include <algorithm>
#include <cstring>

namespace transcribe {

using Quad __attribute__((may_alias)) = int32_t;

}  // namespace transcribe

#define KERNELS "kernels/quantized-kernels.h"
#include "lanes/for-each.h"

namespace transcribe {

bool can_multiply(const ggml_tensor * weights) {
    return weights->type == GGML_TYPE_Q8_0 || weights->type == GGML_TYPE_Q5_0 || weights->type == GGML_TYPE_Q4_0;
}

void pack_panel(const ggml_tensor * weights, size_t first, size_t second, PanelBlock * panel) {
    CALL_KERNEL(pack_panel, weights, first, second, panel);
}

void multiply_panel(const QuantizedRows & input, size_t count, const PanelBlock * panel, size_t blocks, TakeSums take,
                    const void * self) {
    CALL_KERNEL(multiply_panel, input, count, panel, blocks, take, self);
}

void multiply_panel(const QuantizedRows & input, size_t count, const WidePanelBlock * panel, size_t blocks, TakeSums take,
                    const void * self) {
    CALL_KERNEL(multiply_panel, input, count, panel, blocks, take, self);
}

namespace {

struct StoreRow {
    float * output;
    size_t stride;

    static void take(const void * self, size_t row, const float * sums) {
        const auto & [output, stride] = *static_cast<const StoreRow *>(self);
        std::copy(sums, sums + panel_outputs, output + row * stride);
    }
};

}  // namespace

void multiply_rows(const ggml_tensor * weights, const float * input, size_t input_stride, size_t count, float * output,
                   size_t output_stride, size_t part, size_t parts) {
    const auto inputs = static_cast<size_t>(weights->ne[0]);
    const auto outputs = static_cast<size_t>(weights->ne[1]);
    const size_t blocks = inputs / block_width;
    const size_t first = count * part / parts;
    const size_t many = count * (part + 1) / parts - first;
    const QuantizedRows rows(many, inputs);
    for (size_t row = 0; row < many; row++) {
        quantize(input + (first + row) * input_stride, inputs, rows, row);
    }
    const auto panel = buffer<PanelBlock>(blocks);
    for (size_t column = 0; column < outputs; column += panel_outputs) {
        const StoreRow step{output + first * output_stride + column, output_stride};
        pack_panel(weights, column, column + panel_outputs / 2, panel.get());
        multiply_panel(rows, many, panel.get(), blocks, StoreRow::take, &step);
    }
}

void quantize(const float * input, size_t count, const QuantizedRows & output, size_t row, size_t first_block) {
    CALL_KERNEL(quantize, input, count, output, row, first_block);
}

}  // namespace transcribe

#endif
