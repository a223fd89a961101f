#include "relative-attention.h"

#if defined(__x86_64__)

#include "avx512.h"

#include <algorithm>
#include <cmath>

namespace transcribe {

namespace {

constexpr size_t lanes = 16;
// Uses 24 of the 32 registers as sums of 16 lanes.
constexpr size_t rows = 6;
constexpr size_t columns = 4;
constexpr size_t keys_at_once = columns * lanes;

size_t whole(size_t count, size_t unit) {
    return (count + unit - 1) / unit * unit;
}

// scores[row][vector] = query[row] · vector, for vectors [0, count).
AVX512_BASE void score(const float * queries, size_t width, const float * vectors, size_t stride, size_t count, float * scores) {
    for (size_t first = 0; first < count; first += keys_at_once) {
        __m512 sums[rows][columns];
        for (auto & row : sums) {
            for (auto & sum : row) {
                sum = _mm512_setzero_ps();
            }
        }
        const float * from = vectors + first / lanes * stride;
        for (size_t d = 0; d < width; d++) {
            __m512 numbers[columns];
            for (size_t c = 0; c < columns; c++) {
                numbers[c] = _mm512_load_ps(from + c * stride + d * lanes);
            }
            for (size_t r = 0; r < rows; r++) {
                const __m512 query = _mm512_set1_ps(queries[r * width + d]);
                for (size_t c = 0; c < columns; c++) {
                    sums[r][c] = _mm512_fmadd_ps(query, numbers[c], sums[r][c]);
                }
            }
        }
        for (size_t r = 0; r < rows; r++) {
            for (size_t c = 0; c < columns; c++) {
                _mm512_store_ps(scores + r * count + first + c * lanes, sums[r][c]);
            }
        }
    }
}

// Adds the scores of positions and converts the sums to unnormalized shares. Returns the shares' sum.
AVX512_BASE float share(float * scores, const float * of_positions, size_t count, size_t padded) {
    __m512 most = _mm512_set1_ps(-INFINITY);
    for (size_t k = 0; k < count; k += lanes) {
        const __mmask16 valid = static_cast<__mmask16>((1U << std::min(lanes, count - k)) - 1);
        const __m512 sum = _mm512_add_ps(_mm512_load_ps(scores + k), _mm512_loadu_ps(of_positions + k));
        _mm512_store_ps(scores + k, sum);
        most = _mm512_mask_max_ps(most, valid, most, sum);
    }
    const __m512 top = _mm512_set1_ps(_mm512_reduce_max_ps(most));
    __m512 total = _mm512_setzero_ps();
    for (size_t k = 0; k < padded; k += lanes) {
        const size_t many = k < count ? std::min(lanes, count - k) : 0;
        const __mmask16 valid = static_cast<__mmask16>((1U << many) - 1);
        const __m512 power = _mm512_maskz_mov_ps(valid, power_of_two(_mm512_sub_ps(_mm512_load_ps(scores + k), top)));
        total = _mm512_add_ps(total, power);
        _mm512_store_ps(scores + k, power);
    }
    return _mm512_reduce_add_ps(total);
}

// output[row] = shares[row] · values / total[row], for `many` times 16 dimensions.
template <size_t many>
AVX512_BASE void mix(const float * shares, size_t padded, const float * totals, const float * values, size_t width, size_t count,
                     float * output, size_t stride, size_t valid) {
    __m512 sums[rows][many];
    for (auto & row : sums) {
        for (auto & sum : row) {
            sum = _mm512_setzero_ps();
        }
    }
    for (size_t k = 0; k < count; k++) {
        __m512 numbers[many];
        for (size_t c = 0; c < many; c++) {
            numbers[c] = _mm512_loadu_ps(values + k * width + c * lanes);
        }
        for (size_t r = 0; r < rows; r++) {
            const __m512 part = _mm512_set1_ps(shares[r * padded + k]);
            for (size_t c = 0; c < many; c++) {
                sums[r][c] = _mm512_fmadd_ps(part, numbers[c], sums[r][c]);
            }
        }
    }
    for (size_t r = 0; r < valid; r++) {
        const __m512 part = _mm512_set1_ps(1.0f / totals[r]);
        for (size_t c = 0; c < many; c++) {
            _mm512_storeu_ps(output + r * stride + c * lanes, _mm512_mul_ps(sums[r][c], part));
        }
    }
}

size_t positions_at_once(size_t count) {
    return whole(count + rows - 1 + lanes - 1, keys_at_once);
}

// Computes six queries of a head, or the last ones.
void attend_rows(const RelativeAttention & attention, size_t head, size_t row, float * scratch, float * output) {
    const auto & [count, heads, width, queries, keys, values, key_bias, position_bias, positions, most] = attention;
    const size_t padded = padded_keys(count);
    const size_t distances = positions_at_once(count);
    float * const for_keys = scratch;
    float * const for_positions = for_keys + rows * width;
    float * const scores = for_positions + rows * width;
    float * const of_positions = scores + rows * padded;

    // Base 2 replaces base e: exp(x) = 2^(x · log2(e)).
    const float scale = static_cast<float>(M_LOG2E) / std::sqrt(static_cast<float>(width));
    const size_t valid = std::min(rows, count - row);
    const size_t first = head * width;
    for (size_t r = 0; r < rows; r++) {
        const float * query = queries + std::min(row + r, count - 1) * heads * width + first;
        for (size_t d = 0; d < width; d++) {
            for_keys[r * width + d] = (query[d] + key_bias[first + d]) * scale;
            for_positions[r * width + d] = (query[d] + position_bias[first + d]) * scale;
        }
    }
    score(for_keys, width, keys->at(0, first), keys->stride(), padded, scores);
    // The last query and the first key have the largest distance, which comes first.
    const size_t start = position_of(most, static_cast<long>(row + rows - 1)) / lanes * lanes;
    score(for_positions, width, positions->at(start, first), positions->stride(), distances, of_positions);
    float totals[rows] = {};
    for (size_t r = 0; r < rows; r++) {
        const size_t shift = position_of(most, static_cast<long>(row + r)) - start;
        totals[r] = share(scores + r * padded, of_positions + r * distances + shift, count, padded);
    }
    const float * value = values + head * count * width;
    float * const to = output + row * heads * width + first;
    size_t d = 0;
    for (; d + columns * lanes <= width; d += columns * lanes) {
        mix<columns>(scores, padded, totals, value + d, width, count, to + d, heads * width, valid);
    }
    for (; d < width; d += lanes) {
        mix<1>(scores, padded, totals, value + d, width, count, to + d, heads * width, valid);
    }
}

}  // namespace

TurnedVectors::TurnedVectors(size_t count, size_t width) : width_(width), data_(buffer<float>(whole(count, lanes) * width)) {
    std::fill(data_.get(), data_.get() + whole(count, lanes) * width, 0.0f);
}

size_t padded_keys(size_t count) {
    return whole(count, keys_at_once);
}

size_t padded_positions(size_t most) {
    return 2 * most + 16 + keys_at_once + lanes;
}

Buffer<float> attention_scratch(size_t count, size_t head_width) {
    return buffer<float>(rows * (2 * head_width + padded_keys(count) + positions_at_once(count) + lanes));
}

void attend(const RelativeAttention & attention, size_t head, size_t group, float * scratch, float * output) {
    const size_t end = std::min(attention.count, (group + 1) * group_queries);
    for (size_t row = group * group_queries; row < end; row += rows) {
        attend_rows(attention, head, row, scratch, output);
    }
}

}  // namespace transcribe

#endif
