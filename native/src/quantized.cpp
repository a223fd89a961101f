#include "quantized.h"

#include <ggml.h>

#if defined(__x86_64__)

#include <algorithm>
#include <cstring>

namespace transcribe {

using Quad __attribute__((may_alias)) = int32_t;

}  // namespace transcribe

#define KERNELS "../quantized-kernels.h"
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

void quantize(const float * input, size_t count, const QuantizedRows & output, size_t row, size_t first_block) {
    CALL_KERNEL(quantize, input, count, output, row, first_block);
}

}  // namespace transcribe

#endif
