#pragma once

#include "avx512.h"

#include <cmath>
#include <cstddef>

namespace transcribe {

// The layer normalization of a row, whose width is a multiple of 16. All functions need AVX-512.
class LayerNorm {
public:
    AVX512_BASE inline LayerNorm(const float * row, size_t width) : row_(row) {
        __m512 total = _mm512_setzero_ps();
        for (size_t column = 0; column < width; column += lanes) {
            total = _mm512_add_ps(total, _mm512_loadu_ps(row + column));
        }
        mean_ = _mm512_set1_ps(_mm512_reduce_add_ps(total) / static_cast<float>(width));
        __m512 squares = _mm512_setzero_ps();
        for (size_t column = 0; column < width; column += lanes) {
            const __m512 distance = _mm512_sub_ps(_mm512_loadu_ps(row + column), mean_);
            squares = _mm512_fmadd_ps(distance, distance, squares);
        }
        const float variance = _mm512_reduce_add_ps(squares) / static_cast<float>(width);
        inverse_ = _mm512_set1_ps(1.0f / std::sqrt(variance + epsilon));
    }

    // Returns 16 numbers of the result.
    AVX512_BASE inline __m512 at(size_t column, const float * weight, const float * bias) const {
        const __m512 normal = _mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(row_ + column), mean_), inverse_);
        return _mm512_fmadd_ps(normal, _mm512_loadu_ps(weight + column), _mm512_loadu_ps(bias + column));
    }

private:
    static constexpr size_t lanes = 16;
    // PyTorch's value, with which Whisper and NeMo's models were trained.
    static constexpr float epsilon = 1e-5f;

    const float * row_;
    __m512 mean_;
    __m512 inverse_; // of the standard deviation
};

}  // namespace transcribe
