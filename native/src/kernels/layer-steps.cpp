#include "layer-steps.h"

#if defined(__x86_64__)

#include "quantized.h"

#include <algorithm>
#include <cmath>

#define KERNELS "kernels/layer-steps-kernels.h"
#include "lanes/for-each.h"

namespace transcribe {

void normalize(const float * input, const Norm & norm, size_t width, float * output) {
    CALL_KERNEL(normalize, input, norm, width, output);
}

void convolve(const float * input, size_t row, size_t count, const float * weights, const float * bias, size_t kernel,
              size_t width, float * output) {
    CALL_KERNEL(convolve, input, row, count, weights, bias, kernel, width, output);
}

void store_sums(const float * sums, const float * bias, float * output) {
    CALL_KERNEL(store_sums, sums, bias, output);
}

void add_sums(const float * sums, float factor, float * output) {
    CALL_KERNEL(add_sums, sums, factor, output);
}

void add_sums_with_bias(const float * sums, const float * bias, float * output) {
    CALL_KERNEL(add_sums_with_bias, sums, bias, output);
}

void silu_of_sums(const float * sums, float * output) {
    CALL_KERNEL(silu_of_sums, sums, output);
}

void gelu_of_sums(const float * sums, const float * bias, float * output) {
    CALL_KERNEL(gelu_of_sums, sums, bias, output);
}

void gate_sums(const float * sums, float * output) {
    CALL_KERNEL(gate_sums, sums, output);
}

void Store::take(const void * self, size_t row, const float * sums) {
    const auto & [output, bias, width, column] = *static_cast<const Store *>(self);
    store_sums(sums, bias == nullptr ? nullptr : bias + column, output + row * width + column);
}

}  // namespace transcribe

#endif
