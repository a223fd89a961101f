#include "conformer-steps.h"

#if defined(__x86_64__)

#include "avx512.h"
#include "layer-norm.h"

#include <algorithm>
#include <cmath>

namespace transcribe {

namespace {

constexpr size_t lanes = 16;

// Returns 1 + 2^(-x · log2(e)), of which the sigmoid is the inverse.
AVX512_BASE inline __m512 inverse_sigmoid(__m512 x) {
    return _mm512_add_ps(_mm512_set1_ps(1.0f), power_of_two(_mm512_mul_ps(x, _mm512_set1_ps(static_cast<float>(-M_LOG2E)))));
}

AVX512_BASE inline __m512 silu(__m512 x) {
    return _mm512_div_ps(x, inverse_sigmoid(x));
}

template <typename Step> const Step & step(const void * self) {
    return *static_cast<const Step *>(self);
}

}  // namespace

AVX512_BASE void normalize(const float * input, const ConformerWeights::Norm & norm, size_t width, float * output) {
    const LayerNorm layer_norm(input, width);
    for (size_t column = 0; column < width; column += lanes) {
        _mm512_storeu_ps(output + column, layer_norm.at(column, norm.weight, norm.bias));
    }
}

AVX512_BASE void convolve(const float * input, size_t row, size_t count, const ConformerWeights::Layer & layer, size_t kernel,
                          size_t width, float * output) {
    const size_t side = kernel / 2;
    const size_t first = row < side ? side - row : 0;
    const size_t end = std::min(kernel, count + side - row);
    for (size_t column = 0; column < width; column += lanes) {
        __m512 sum = _mm512_load_ps(layer.depthwise_bias.get() + column);
        for (size_t k = first; k < end; k++) {
            const __m512 numbers = _mm512_loadu_ps(input + (row + k - side) * width + column);
            sum = _mm512_fmadd_ps(numbers, _mm512_load_ps(layer.depthwise.get() + k * width + column), sum);
        }
        _mm512_storeu_ps(output + column, silu(sum));
    }
}

AVX512_BASE void Store::take(const void * self, size_t row, const float * sums) {
    const auto & [output, bias, width, column] = step<Store>(self);
    for (size_t i = 0; i < panel_outputs; i += lanes) {
        const __m512 start = bias == nullptr ? _mm512_setzero_ps() : _mm512_loadu_ps(bias + column + i);
        _mm512_storeu_ps(output + row * width + column + i, _mm512_add_ps(_mm512_load_ps(sums + i), start));
    }
}

template <typename Products>
AVX512_BASE void Activate<Products>::take(const void * self, size_t row, const float * sums) {
    const auto & [output, column] = step<Activate>(self);
    alignas(64) float numbers[panel_outputs];
    for (size_t i = 0; i < panel_outputs; i += lanes) {
        _mm512_store_ps(numbers + i, silu(_mm512_load_ps(sums + i)));
    }
    Products::store(numbers, panel_outputs, output, row, column);
}

template struct Activate<ByteProducts>;
template struct Activate<Bfloat16Products>;

AVX512_BASE void AddTo::take(const void * self, size_t row, const float * sums) {
    const auto & [output, width, factor, column] = step<AddTo>(self);
    for (size_t i = 0; i < panel_outputs; i += lanes) {
        float * to = output + row * width + column + i;
        _mm512_storeu_ps(to, _mm512_fmadd_ps(_mm512_load_ps(sums + i), _mm512_set1_ps(factor), _mm512_loadu_ps(to)));
    }
}

AVX512_BASE void Gate::take(const void * self, size_t row, const float * sums) {
    const auto & [output, width, column] = step<Gate>(self);
    const __m512 gate = inverse_sigmoid(_mm512_load_ps(sums + lanes));
    _mm512_storeu_ps(output + row * width + column, _mm512_div_ps(_mm512_load_ps(sums), gate));
}

void Turn::take(const void * self, size_t row, const float * sums) {
    const auto & [output, column] = step<Turn>(self);
    output.set(row, column, sums);
    output.set(row, column + lanes, sums + lanes);
}

void SplitHeads::take(const void * self, size_t row, const float * sums) {
    const auto & [output, count, head_width, column] = step<SplitHeads>(self);
    for (size_t i = 0; i < panel_outputs; i += lanes) {
        const size_t head = (column + i) / head_width;
        std::copy(sums + i, sums + i + lanes, output + (head * count + row) * head_width + (column + i) % head_width);
    }
}

}  // namespace transcribe

#endif
