#include "cross-attention.h"

#if defined(__x86_64__)

#include "avx512.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace transcribe {

namespace {

using Head = CrossAttention::Head;

constexpr size_t lanes = 16;
constexpr size_t width = CrossAttention::head_width;
constexpr size_t vectors = width / lanes;
constexpr size_t most_positions = CrossAttention::most_positions;
// Largest sizes of the numbers of 16 bits: a query's has a sign, and its low byte, too.
constexpr float query_limit = 127 * 256;
constexpr float weight_limit = 65535;
constexpr float log2e = static_cast<float>(M_LOG2E);

using Quad __attribute__((may_alias)) = int32_t;

// Adds the products of four unsigned bytes of each lane with four signed ones. GCC 12 stores the sums after each step if the
// intrinsic function is used.
AVX512_VNNI inline void add_bytes(__m512i & sums, __m512i unsigned_bytes, const int8_t * quad) {
    asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sums) : "v"(unsigned_bytes), "m"(*reinterpret_cast<const Quad *>(quad)));
}

AVX512_VNNI inline void add_bytes(__m512i & sums, __m512i unsigned_bytes, __m512i signed_bytes) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(unsigned_bytes), "v"(signed_bytes));
}

// Sums for each query, by its upper and its lower bytes. Members instead of an array: GCC 12 leaves arrays in memory.
template <size_t queries> struct KeySums {
    __m512i upper = {};
    __m512i lower = {};
    KeySums<queries - 1> rest = {};
};
template <> struct KeySums<0> {};

template <size_t queries> struct ValueSums {
    __m512i upper = {}, upper_next = {};
    __m512i lower = {}, lower_next = {};
    ValueSums<queries - 1> rest = {};
};
template <> struct ValueSums<0> {};

AVX512_VNNI inline __m512i same_quad(const uint8_t * quad) {
    int32_t number;
    std::memcpy(&number, quad, sizeof number);
    return _mm512_set1_epi32(number);
}

template <size_t queries>
AVX512_VNNI inline __attribute__((always_inline)) void add_keys(KeySums<queries> & sums, __m512i keys, const int8_t * upper,
                                                                const int8_t * lower) {
    if constexpr (queries > 0) {
        add_bytes(sums.upper, keys, upper);
        add_bytes(sums.lower, keys, lower);
        add_keys(sums.rest, keys, upper + width, lower + width);
    }
}

template <size_t queries>
AVX512_VNNI inline __attribute__((always_inline)) void add_values(ValueSums<queries> & sums, __m512i first, __m512i second,
                                                                  const uint8_t * upper, const uint8_t * lower) {
    if constexpr (queries > 0) {
        const __m512i upper_weights = same_quad(upper);
        add_bytes(sums.upper, upper_weights, first);
        add_bytes(sums.upper_next, upper_weights, second);
        const __m512i lower_weights = same_quad(lower);
        add_bytes(sums.lower, lower_weights, first);
        add_bytes(sums.lower_next, lower_weights, second);
        add_values(sums.rest, first, second, upper + most_positions, lower + most_positions);
    }
}

template <size_t queries> AVX512_VNNI inline __attribute__((always_inline)) void store(const KeySums<queries> & sums, __m512i * to) {
    if constexpr (queries > 0) {
        *to = _mm512_add_epi32(_mm512_slli_epi32(sums.upper, 8), sums.lower);
        store(sums.rest, to + 1);
    }
}

template <size_t queries>
AVX512_VNNI inline __attribute__((always_inline)) void store(const ValueSums<queries> & sums, __m512 (*to)[2]) {
    if constexpr (queries > 0) {
        (*to)[0] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums.upper), _mm512_set1_ps(256), _mm512_cvtepi32_ps(sums.lower));
        (*to)[1] =
            _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums.upper_next), _mm512_set1_ps(256), _mm512_cvtepi32_ps(sums.lower_next));
        store(sums.rest, to + 1);
    }
}

// Returns 16 of the 16-bit floats.
AVX512_VNNI inline __m512 load_half(const uint16_t * numbers) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(numbers)));
}

// Rounds each channel, relative to its mean, to 8 bits: [position][channel].
AVX512_VNNI void quantize_channels(const uint16_t * input, size_t stride, size_t positions, float * scale, float * mean,
                                   int8_t * numbers) {
    for (size_t channel = 0; channel < width; channel += lanes) {
        __m512 least = load_half(input + channel);
        __m512 most = least;
        __m512 total = _mm512_setzero_ps();
        for (size_t at = 0; at < positions; at++) {
            const __m512 number = load_half(input + at * stride + channel);
            least = _mm512_min_ps(least, number);
            most = _mm512_max_ps(most, number);
            total = _mm512_add_ps(total, number);
        }
        const __m512 middle = _mm512_div_ps(total, _mm512_set1_ps(static_cast<float>(positions)));
        const __m512 range = _mm512_max_ps(_mm512_sub_ps(most, middle), _mm512_sub_ps(middle, least));
        const __m512 step = _mm512_max_ps(_mm512_div_ps(range, _mm512_set1_ps(127)), _mm512_set1_ps(1e-20f));
        _mm512_store_ps(scale + channel, step);
        _mm512_store_ps(mean + channel, middle);
        const __m512 factor = _mm512_div_ps(_mm512_set1_ps(1), step);
        for (size_t at = 0; at < positions; at++) {
            const __m512 number = _mm512_sub_ps(load_half(input + at * stride + channel), middle);
            const __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(number, factor));
            _mm_storeu_si128(reinterpret_cast<__m128i *>(numbers + at * width + channel), _mm512_cvtsepi32_epi8(whole));
        }
    }
}

// Sixteen channels of four positions.
struct Four {
    explicit Four(const int8_t * from)
        : first(row(from)), second(row(from + width)), third(row(from + 2 * width)), fourth(row(from + 3 * width)) {}
    static __m128i row(const int8_t * from) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)); }

    const __m128i first, second, third, fourth;
};

// `numbers` is working memory for all positions of a head.
AVX512_VNNI void pack_head(Head & head, const uint16_t * keys, const uint16_t * values, size_t stride, size_t positions,
                           int8_t * numbers) {
    // The positions from the last one to the end of its block are like the mean; their weights are zero.
    const size_t end = (positions + lanes - 1) / lanes * lanes;
    std::memset(numbers + positions * width, 0, (end - positions) * width);
    quantize_channels(keys, stride, positions, head.key_scale, head.key_mean, numbers);
    const __m128i offset = _mm_set1_epi8(-128);
    for (size_t at = 0; at < end; at += 4) {
        for (size_t quad = 0; quad < width / 4; quad += 4) {
            const Four rows(numbers + at * width + 4 * quad);
            const __m128i low[2] = {_mm_unpacklo_epi32(rows.first, rows.second), _mm_unpacklo_epi32(rows.third, rows.fourth)};
            const __m128i high[2] = {_mm_unpackhi_epi32(rows.first, rows.second), _mm_unpackhi_epi32(rows.third, rows.fourth)};
            const __m128i turned[4] = {_mm_unpacklo_epi64(low[0], low[1]), _mm_unpackhi_epi64(low[0], low[1]),
                                       _mm_unpacklo_epi64(high[0], high[1]), _mm_unpackhi_epi64(high[0], high[1])};
            for (size_t i = 0; i < 4; i++) {
                auto * to = reinterpret_cast<__m128i *>(head.keys[at / 16][quad + i][at % 16]);
                _mm_store_si128(to, _mm_xor_si128(turned[i], offset));
            }
        }
    }
    quantize_channels(values, stride, positions, head.value_scale, head.value_mean, numbers);
    for (size_t at = 0; at < end; at += 4) {
        for (size_t vector = 0; vector < vectors; vector++) {
            const Four rows(numbers + at * width + vector * lanes);
            const __m128i low[2] = {_mm_unpacklo_epi8(rows.first, rows.second), _mm_unpacklo_epi8(rows.third, rows.fourth)};
            const __m128i high[2] = {_mm_unpackhi_epi8(rows.first, rows.second), _mm_unpackhi_epi8(rows.third, rows.fourth)};
            auto * to = reinterpret_cast<__m128i *>(head.values[vector / 2][at / 4][vector % 2]);
            _mm_store_si128(to, _mm_unpacklo_epi16(low[0], low[1]));
            _mm_store_si128(to + 1, _mm_unpackhi_epi16(low[0], low[1]));
            _mm_store_si128(to + 2, _mm_unpacklo_epi16(high[0], high[1]));
            _mm_store_si128(to + 3, _mm_unpackhi_epi16(high[0], high[1]));
        }
    }
}

template <size_t count>
AVX512_VNNI void attend_few(const Head & head, size_t positions, size_t padding, const float * queries, size_t query_stride,
                            float scale, float * output, size_t output_stride) {
    const size_t blocks = (positions + lanes - 1) / lanes;
    // Weights are powers of two.
    const __m512 factor = _mm512_set1_ps(scale * log2e);

    alignas(64) int8_t high[count][width];
    alignas(64) int8_t low[count][width];
    __m512i offset[count];
    float step[count];
    float mean_score[count];
    for (size_t q = 0; q < count; q++) {
        __m512 scaled[vectors];
        __m512 mean = _mm512_setzero_ps();
        __m512 most = _mm512_setzero_ps();
        for (size_t v = 0; v < vectors; v++) {
            const __m512 query = _mm512_mul_ps(_mm512_loadu_ps(queries + q * query_stride + v * lanes), factor);
            mean = _mm512_fmadd_ps(query, _mm512_load_ps(head.key_mean + v * lanes), mean);
            scaled[v] = _mm512_mul_ps(query, _mm512_load_ps(head.key_scale + v * lanes));
            most = _mm512_max_ps(most, _mm512_abs_ps(scaled[v]));
        }
        mean_score[q] = _mm512_reduce_add_ps(mean);
        step[q] = std::max(_mm512_reduce_max_ps(most) / query_limit, 1e-30f);
        __m512i total = _mm512_setzero_si512();
        for (size_t v = 0; v < vectors; v++) {
            const __m512i whole = _mm512_cvtps_epi32(_mm512_div_ps(scaled[v], _mm512_set1_ps(step[q])));
            const __m512i last = _mm512_srai_epi32(_mm512_slli_epi32(whole, 24), 24);
            const __m512i first = _mm512_srai_epi32(_mm512_sub_epi32(whole, last), 8);
            _mm_store_si128(reinterpret_cast<__m128i *>(low[q] + v * lanes), _mm512_cvtepi32_epi8(last));
            _mm_store_si128(reinterpret_cast<__m128i *>(high[q] + v * lanes), _mm512_cvtepi32_epi8(first));
            total = _mm512_add_epi32(total, whole);
        }
        offset[q] = _mm512_set1_epi32(-128 * _mm512_reduce_add_epi32(total));
    }

    alignas(64) float scores[count][most_positions];
    __m512 most[count];
    for (size_t q = 0; q < count; q++) {
        most[q] = _mm512_set1_ps(-INFINITY);
    }
    for (size_t block = 0; block < blocks; block++) {
        KeySums<count> sums;
#pragma GCC unroll 4
        for (size_t quad = 0; quad < width / 4; quad++) {
            add_keys(sums, _mm512_load_si512(head.keys[block][quad]), high[0] + 4 * quad, low[0] + 4 * quad);
        }
        __m512i products[count];
        store(sums, products);
        const size_t left = positions - block * lanes;
        const __mmask16 is_position = left >= lanes ? 0xffff : static_cast<__mmask16>((1u << left) - 1);
        for (size_t q = 0; q < count; q++) {
            const __m512i sum = _mm512_add_epi32(products[q], offset[q]);
            const __m512 score = _mm512_mask_blend_ps(is_position, _mm512_set1_ps(-INFINITY),
                                                      _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(step[q])));
            _mm512_store_ps(scores[q] + block * lanes, score);
            most[q] = _mm512_max_ps(most[q], score);
        }
    }

    alignas(64) uint8_t high_weights[count][most_positions];
    alignas(64) uint8_t low_weights[count][most_positions];
    float of_values[count]; // sums of weights
    float of_all[count];
    for (size_t q = 0; q < count; q++) {
        float best = _mm512_reduce_max_ps(most[q]);
        if (padding > 0) {
            best = std::max(best, -mean_score[q]);
        }
        __m512i total = _mm512_setzero_si512();
        for (size_t block = 0; block < blocks; block++) {
            const __m512 score = _mm512_sub_ps(_mm512_load_ps(scores[q] + block * lanes), _mm512_set1_ps(best));
            const __m512i weight =
                _mm512_cvtps_epi32(_mm512_mul_ps(power_of_two(score), _mm512_set1_ps(weight_limit)));
            _mm_store_si128(reinterpret_cast<__m128i *>(high_weights[q] + block * lanes),
                            _mm512_cvtepi32_epi8(_mm512_srli_epi32(weight, 8)));
            _mm_store_si128(reinterpret_cast<__m128i *>(low_weights[q] + block * lanes), _mm512_cvtepi32_epi8(weight));
            total = _mm512_add_epi32(total, weight);
        }
        of_values[q] = static_cast<float>(_mm512_reduce_add_epi32(total));
        // Without padding the product still shows a number that is not finite.
        const float of_padding = padding > 0 ? static_cast<float>(padding) * weight_limit * std::exp2(-mean_score[q] - best)
                                             : 0 * mean_score[q];
        of_all[q] = of_values[q] + of_padding;
    }

    for (size_t half = 0; half < width / 32; half++) {
        ValueSums<count> sums;
        for (size_t four = 0; four < 4 * blocks; four++) {
            add_values(sums, _mm512_load_si512(head.values[half][four][0]), _mm512_load_si512(head.values[half][four][1]),
                       high_weights[0] + 4 * four, low_weights[0] + 4 * four);
        }
        __m512 products[count][2];
        store(sums, products);
        for (size_t q = 0; q < count; q++) {
            for (size_t v = 0; v < 2; v++) {
                const size_t channel = half * 32 + v * lanes;
                const __m512 mean = _mm512_mul_ps(_mm512_load_ps(head.value_mean + channel), _mm512_set1_ps(of_values[q]));
                const __m512 all = _mm512_fmadd_ps(products[q][v], _mm512_load_ps(head.value_scale + channel), mean);
                _mm512_storeu_ps(output + q * output_stride + channel, _mm512_div_ps(all, _mm512_set1_ps(of_all[q])));
            }
        }
    }
}

}  // namespace

CrossAttention::CrossAttention(size_t layers, size_t heads) : heads_(heads), all_(buffer<Head>(layers * heads)) {}

bool CrossAttention::is_supported() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
}

void CrossAttention::pack(size_t layer, const uint16_t * keys, const uint16_t * values, size_t positions, size_t padding) {
    positions_ = positions;
    padding_ = padding;
    const Buffer<int8_t> numbers = buffer<int8_t>(most_positions * width);
    for (size_t head = 0; head < heads_; head++) {
        pack_head(all_[layer * heads_ + head], keys + head * width, values + head * width, heads_ * width, positions,
                  numbers.get());
    }
}

void CrossAttention::attend(size_t layer, size_t head, const float * queries, size_t query_stride, size_t count, float scale,
                            float * output, size_t output_stride) const {
    const Head & its = all_[layer * heads_ + head];
    while (count > 0) {
        const size_t few = std::min(count, most_queries);
        switch (few) {
        case 1: attend_few<1>(its, positions_, padding_, queries, query_stride, scale, output, output_stride); break;
        case 2: attend_few<2>(its, positions_, padding_, queries, query_stride, scale, output, output_stride); break;
        case 3: attend_few<3>(its, positions_, padding_, queries, query_stride, scale, output, output_stride); break;
        case 4: attend_few<4>(its, positions_, padding_, queries, query_stride, scale, output, output_stride); break;
        case 5: attend_few<5>(its, positions_, padding_, queries, query_stride, scale, output, output_stride); break;
        }
        queries += few * query_stride;
        output += few * output_stride;
        count -= few;
    }
}

}  // namespace transcribe

#else

namespace transcribe {

CrossAttention::CrossAttention(size_t, size_t heads) : heads_(heads) {}

bool CrossAttention::is_supported() {
    return false;
}

void CrossAttention::pack(size_t, const uint16_t *, const uint16_t *, size_t, size_t) {}

void CrossAttention::attend(size_t, size_t, const float *, size_t, size_t, float, float *, size_t) const {}

}  // namespace transcribe

#endif
