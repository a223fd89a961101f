#include "attention.h"

#if defined(__x86_64__)

#include "in-parallel.h"
#include "kernels/aligned.h"
#include "kernels/avx512.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#define KERNELS "encoder/word-attention-kernels.h"
#include "kernels/lanes/for-each.h"

namespace transcribe {

namespace {

constexpr size_t lanes = 16;
// Uses 24 of the 32 registers as accumulators of 16 lanes.
constexpr size_t rows = 6;
constexpr size_t columns = 4;
constexpr size_t keys_at_once = columns * lanes;

using Pair = uint32_t; // two bfloat16, the first in the lower half

AVX512 inline __m512i pairs_of(__m512 low, __m512 high) {
    // lane i of the result: low[i] in the lower half, high[i] in the upper
    const __m512i lower = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(low));
    const __m512i upper = _mm512_slli_epi32(_mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(high)), 16);
    return _mm512_or_si512(lower, upper);
}

// Keys and values of a head in the layout that the products read.
struct Head {
    size_t padded;
    Buffer<Pair> keys;   // [padded / 64][32 pairs of dimensions][64 keys]
    Buffer<Pair> values; // [padded / 2 pairs of keys][64 dimensions]

    explicit Head(size_t padded)
        : padded(padded), keys(buffer<Pair>(padded * head_width / 2)), values(buffer<Pair>(padded * head_width / 2)) {}

    AVX512 void fill(const float * key, const float * value, size_t count, size_t stride) {
        alignas(64) float turned[head_width][keys_at_once];
        for (size_t block = 0; block < padded / keys_at_once; block++) {
            for (size_t k = 0; k < keys_at_once; k++) {
                const size_t position = block * keys_at_once + k;
                for (size_t d = 0; d < head_width; d++) {
                    turned[d][k] = position < count ? key[position * stride + d] : 0.0f;
                }
            }
            for (size_t d = 0; d < head_width; d += 2) {
                Pair * to = keys.get() + (block * head_width / 2 + d / 2) * keys_at_once;
                for (size_t k = 0; k < keys_at_once; k += lanes) {
                    _mm512_store_si512(to + k, pairs_of(_mm512_load_ps(&turned[d][k]), _mm512_load_ps(&turned[d + 1][k])));
                }
            }
        }
        for (size_t position = 0; position < padded; position += 2) {
            for (size_t d = 0; d < head_width; d += lanes) {
                const __m512 first = position < count ? _mm512_loadu_ps(value + position * stride + d) : _mm512_setzero_ps();
                const __m512 second =
                    position + 1 < count ? _mm512_loadu_ps(value + (position + 1) * stride + d) : _mm512_setzero_ps();
                _mm512_store_si512(values.get() + position / 2 * head_width + d, pairs_of(first, second));
            }
        }
    }
};

// scores[row][key] = query · key
AVX512 void score(const Pair * query, const Head & head, float * scores) {
    for (size_t block = 0; block < head.padded / keys_at_once; block++) {
        __m512 sums[rows][columns];
        for (auto & row : sums) {
            for (auto & sum : row) {
                sum = _mm512_setzero_ps();
            }
        }
        const Pair * keys = head.keys.get() + block * (head_width / 2) * keys_at_once;
        for (size_t d = 0; d < head_width / 2; d++) {
            __m512bh k[columns];
            for (size_t c = 0; c < columns; c++) {
                k[c] = (__m512bh)_mm512_load_si512(keys + d * keys_at_once + c * lanes);
            }
            for (size_t r = 0; r < rows; r++) {
                const __m512bh q = (__m512bh)_mm512_set1_epi32(static_cast<int>(query[r * head_width / 2 + d]));
                for (size_t c = 0; c < columns; c++) {
                    sums[r][c] = _mm512_dpbf16_ps(sums[r][c], q, k[c]);
                }
            }
        }
        for (size_t r = 0; r < rows; r++) {
            for (size_t c = 0; c < columns; c++) {
                _mm512_store_ps(scores + r * head.padded + block * keys_at_once + c * lanes, sums[r][c]);
            }
        }
    }
}

// Converts a row of scores to unnormalized shares in bfloat16. Returns their sum.
AVX512 float share(float * scores, size_t count, size_t padded, Pair * shares) {
    std::fill(scores + count, scores + padded, -std::numeric_limits<float>::infinity());
    __m512 most[columns];
    for (auto & each : most) {
        each = _mm512_set1_ps(-std::numeric_limits<float>::infinity());
    }
    for (size_t k = 0; k < padded; k += keys_at_once) {
        for (size_t c = 0; c < columns; c++) {
            most[c] = _mm512_max_ps(most[c], _mm512_load_ps(scores + k + c * lanes));
        }
    }
    const float largest =
        _mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(most[0], most[1]), _mm512_max_ps(most[2], most[3])));
    const __m512 top = _mm512_set1_ps(largest);
    __m512 total = _mm512_setzero_ps();
    __m512 other = _mm512_setzero_ps();
    for (size_t k = 0; k < padded; k += 2 * lanes) {
        const __m512 first = power_of_two(_mm512_sub_ps(_mm512_load_ps(scores + k), top));
        const __m512 second = power_of_two(_mm512_sub_ps(_mm512_load_ps(scores + k + lanes), top));
        total = _mm512_add_ps(total, first);
        other = _mm512_add_ps(other, second);
        _mm512_storeu_si512(shares + k / 2, (__m512i)_mm512_cvtne2ps_pbh(second, first));
    }
    return _mm512_reduce_add_ps(_mm512_add_ps(total, other));
}

// output[row] = shares[row] · values, divided by the shares' sum
AVX512 void mix(const Pair * shares, const float * totals, const Head & head, float * output, size_t count,
                     size_t stride) {
    __m512 sums[rows][columns];
    for (auto & row : sums) {
        for (auto & sum : row) {
            sum = _mm512_setzero_ps();
        }
    }
    const size_t pairs = head.padded / 2;
    for (size_t pair = 0; pair < pairs; pair++) {
        __m512bh v[columns];
        for (size_t c = 0; c < columns; c++) {
            v[c] = (__m512bh)_mm512_load_si512(head.values.get() + pair * head_width + c * lanes);
        }
        for (size_t r = 0; r < rows; r++) {
            const __m512bh p = (__m512bh)_mm512_set1_epi32(static_cast<int>(shares[r * pairs + pair]));
            for (size_t c = 0; c < columns; c++) {
                sums[r][c] = _mm512_dpbf16_ps(sums[r][c], p, v[c]);
            }
        }
    }
    for (size_t r = 0; r < count; r++) {
        const __m512 part = _mm512_set1_ps(1.0f / totals[r]);
        for (size_t c = 0; c < columns; c++) {
            _mm512_storeu_ps(output + r * stride + c * lanes, _mm512_mul_ps(sums[r][c], part));
        }
    }
}

AVX512 void take_query(const float * query, Pair * pairs) {
    // Base 2 replaces base e: exp(x) = 2^(x · log2(e)).
    const __m512 scale = _mm512_set1_ps(static_cast<float>(M_LOG2E / 8)); // 8 is the square root of head_width
    for (size_t d = 0; d < head_width; d += 2 * lanes) {
        const __m512 first = _mm512_mul_ps(_mm512_loadu_ps(query + d), scale);
        const __m512 second = _mm512_mul_ps(_mm512_loadu_ps(query + d + lanes), scale);
        _mm512_storeu_si512(pairs + d / 2, (__m512i)_mm512_cvtne2ps_pbh(second, first));
    }
}

// Computes some heads.
void attend_in_bfloat16(const AttentionInput & input, float * output, size_t heads, size_t from, size_t to) {
    const size_t width = heads * head_width;
    const size_t padded = (input.count + keys_at_once - 1) / keys_at_once * keys_at_once;
    Head head(padded);
    const auto scores = buffer<float>(rows * padded);
    const auto shares = buffer<Pair>(rows * padded / 2);
    alignas(64) Pair pairs[rows * head_width / 2] = {};
    for (size_t first = from * head_width; first < to * head_width; first += head_width) {
        head.fill(input.keys + first, input.values + first, input.count, input.stride);
        for (size_t row = 0; row < input.query_count; row += rows) {
            const size_t many = std::min(rows, input.query_count - row);
            float totals[rows];
            for (size_t r = 0; r < many; r++) {
                take_query(input.queries + (row + r) * input.query_stride + first, pairs + r * head_width / 2);
            }
            score(pairs, head, scores.get());
            for (size_t r = 0; r < many; r++) {
                totals[r] = share(scores.get() + r * padded, input.count, padded, shares.get() + r * padded / 2);
            }
            mix(shares.get(), totals, head, output + row * width + first, many, width);
        }
    }
}

}  // namespace

void attend(const AttentionInput & input, float * output, size_t heads, size_t threads) {
    const bool has_bfloat16 = instructions() == Instructions::bfloat16;
    in_parallel(threads, heads, [&](size_t from, size_t to) {
        if (has_bfloat16) {
            attend_in_bfloat16(input, output, heads, from, to);
        } else {
            CALL_KERNEL(attend_heads, input, output, heads, from, to);
        }
    });
}

void attend(const float * input, float * output, size_t count, size_t heads, size_t threads) {
    const size_t width = heads * head_width;
    const size_t stride = 3 * width;
    attend({input, stride, count, input + width, input + 2 * width, stride, count}, output, heads, threads);
}

}  // namespace transcribe

#endif
