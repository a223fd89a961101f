#pragma once

#include "avx512.h"
#include "rows.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

// The innermost part of products in bfloat16, which all kinds of matrices share. All functions need AVX-512 with BF16.
namespace transcribe {

// Rounds 16 numbers.
AVX512 inline void store(Bfloat16 * output, __m512 numbers) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(output), (__m256i)_mm512_cvtneps_pbh(numbers));
}

// Adds the products of `rows` rows with `columns` times 16 outputs to `sums`. `row(r)` is a row's first number. Of 16 outputs
// each pair of inputs has 32 weights, [output][input], `stride` numbers after those of the pair before.
template <size_t rows, size_t columns, typename Row>
AVX512 inline __attribute__((always_inline)) void add_products(const Row & row, const Bfloat16 * const (&weights)[columns],
                                                               size_t stride, size_t pairs, __m512 (&sums)[rows][columns]) {
    for (size_t pair = 0; pair < pairs; pair++) {
        __m512bh factors[columns];
        for (size_t c = 0; c < columns; c++) {
            factors[c] = (__m512bh)_mm512_loadu_si512(weights[c] + pair * stride);
        }
#pragma GCC unroll 12
        for (size_t r = 0; r < rows; r++) {
            int32_t numbers;
            std::memcpy(&numbers, row(r) + 2 * pair, sizeof numbers);
            const __m512bh input = (__m512bh)_mm512_set1_epi32(numbers);
            for (size_t c = 0; c < columns; c++) {
                sums[r][c] = _mm512_dpbf16_ps(sums[r][c], input, factors[c]);
            }
        }
    }
}

}  // namespace transcribe
