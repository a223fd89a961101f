#include "quantized.h"

#include <ggml.h>

#if !defined(__x86_64__)

namespace transcribe {

bool has_vnni() {
    return false;
}

}  // namespace transcribe

#else

#include "avx512.h"

#include <algorithm>
#include <cstring>

namespace transcribe {

namespace {

constexpr size_t lanes = 16;
// Uses 24 of the 32 registers as sums of 16 lanes.
constexpr size_t rows = rows_at_once;
constexpr size_t columns = panel_outputs / lanes;

using Quad __attribute__((may_alias)) = int32_t;

// Adds the products of four numbers with the weights of 32 outputs. GCC 12 stores the sums after each step if the
// intrinsic function is used.
AVX512_VNNI inline void add_quad(__m512i (&sums)[columns], __m512i first, __m512i second, const int8_t * numbers) {
    asm("vpdpbusd %4%{1to16%}, %2, %0\n\tvpdpbusd %4%{1to16%}, %3, %1"
        : "+&v"(sums[0]), "+&v"(sums[1])
        : "v"(first), "v"(second), "m"(*reinterpret_cast<const Quad *>(numbers)));
}

// Multiplies six rows, which follow each other, with a panel.
template <size_t width>
AVX512_VNNI void multiply_tile(const QuantizedRows & input, size_t row, const PanelBlockOf<width> * panel, size_t blocks,
                               float (*sums)[panel_outputs]) {
    const int8_t * numbers = input.numbers(row);
    const size_t stride = input.blocks() * width;
    const QuantizedRows::Scale * scales = input.scales(row);
    const size_t scale_stride = input.blocks();
    __m512 totals[rows][columns];
    for (auto & total : totals) {
        total[0] = total[1] = _mm512_setzero_ps();
    }
    for (size_t block = 0; block < blocks; block++, panel++, numbers += width, scales++) {
        __m512i parts[rows][columns];
#pragma GCC unroll 6
        for (size_t r = 0; r < rows; r++) {
            parts[r][0] = parts[r][1] = _mm512_set1_epi32(scales[r * scale_stride].offset);
        }
#pragma GCC unroll 8
        for (size_t quad = 0; quad < width / 4; quad++) {
            const __m512i first = _mm512_loadu_si512(panel->numbers[quad][0]);
            const __m512i second = _mm512_loadu_si512(panel->numbers[quad][1]);
#pragma GCC unroll 6
            for (size_t r = 0; r < rows; r++) {
                add_quad(parts[r], first, second, numbers + r * stride + 4 * quad);
            }
        }
        const __m512 first = _mm512_loadu_ps(panel->scales);
        const __m512 second = _mm512_loadu_ps(panel->scales + lanes);
#pragma GCC unroll 6
        for (size_t r = 0; r < rows; r++) {
            const __m512 scale = _mm512_set1_ps(scales[r * scale_stride].scale);
            totals[r][0] = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(parts[r][0]), scale), first, totals[r][0]);
            totals[r][1] = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(parts[r][1]), scale), second, totals[r][1]);
        }
    }
    for (size_t r = 0; r < rows; r++) {
        _mm512_store_ps(sums[r], totals[r][0]);
        _mm512_store_ps(sums[r] + lanes, totals[r][1]);
    }
}

// A block of 32 weights in memory: the scale in 16 bits, then their bits.
constexpr size_t scale_bytes = 2;

// Unpacks a block of weights to unsigned bytes with 128 added.
template <ggml_type type> AVX512_VNNI inline __m256i unpack(const uint8_t * weights) {
    if constexpr (type == GGML_TYPE_Q8_0) {
        const __m256i numbers = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(weights + scale_bytes));
        return _mm256_xor_si256(numbers, _mm256_set1_epi8(static_cast<char>(0x80)));
    } else {
        const bool five = type == GGML_TYPE_Q5_0;
        const __m128i packed =
            _mm_loadu_si128(reinterpret_cast<const __m128i *>(weights + scale_bytes + (five ? sizeof(uint32_t) : 0)));
        const __m128i low = _mm_and_si128(packed, _mm_set1_epi8(15));
        const __m128i high = _mm_and_si128(_mm_srli_epi16(packed, 4), _mm_set1_epi8(15));
        __m256i numbers = _mm256_set_m128i(high, low);
        if (five) {
            uint32_t fifth;
            std::memcpy(&fifth, weights + scale_bytes, sizeof fifth);
            numbers = _mm256_or_si256(numbers, _mm256_maskz_set1_epi8(fifth, 16));
        }
        return _mm256_add_epi8(numbers, _mm256_set1_epi8(static_cast<char>(128 - (five ? 16 : 8))));
    }
}

// Turns eight vectors of eight quads: afterwards vector i has quad i of each.
AVX512_VNNI inline void turn(__m256i (&v)[8]) {
    __m256i pairs[8];
    for (size_t i = 0; i < 4; i++) {
        pairs[2 * i] = _mm256_unpacklo_epi32(v[2 * i], v[2 * i + 1]);
        pairs[2 * i + 1] = _mm256_unpackhi_epi32(v[2 * i], v[2 * i + 1]);
    }
    __m256i fours[8];
    for (size_t i = 0; i < 2; i++) {
        fours[4 * i] = _mm256_unpacklo_epi64(pairs[4 * i], pairs[4 * i + 2]);
        fours[4 * i + 1] = _mm256_unpackhi_epi64(pairs[4 * i], pairs[4 * i + 2]);
        fours[4 * i + 2] = _mm256_unpacklo_epi64(pairs[4 * i + 1], pairs[4 * i + 3]);
        fours[4 * i + 3] = _mm256_unpackhi_epi64(pairs[4 * i + 1], pairs[4 * i + 3]);
    }
    for (size_t i = 0; i < 4; i++) {
        v[i] = _mm256_permute2x128_si256(fours[i], fours[4 + i], 0x20);
        v[4 + i] = _mm256_permute2x128_si256(fours[i], fours[4 + i], 0x31);
    }
}

constexpr size_t turned = 8;

template <ggml_type type> AVX512_VNNI void pack(const ggml_tensor * weights, size_t first, size_t second, PanelBlock * panel) {
    const size_t blocks = static_cast<size_t>(weights->ne[0]) / block_width;
    const size_t bytes = ggml_type_size(type);
    const auto * data = static_cast<const uint8_t *>(weights->data);
    for (size_t output = 0; output < panel_outputs; output += turned) {
        const size_t column = output / lanes;
        const size_t lane = output % lanes;
        const uint8_t * from = data + ((column == 0 ? first : second) + lane) * weights->nb[1];
        for (size_t block = 0; block < blocks; block++) {
            __m256i numbers[turned];
            alignas(16) uint16_t scales[turned];
            for (size_t i = 0; i < turned; i++) {
                const uint8_t * at = from + i * weights->nb[1] + block * bytes;
                numbers[i] = unpack<type>(at);
                std::memcpy(scales + i, at, scale_bytes);
            }
            turn(numbers);
            for (size_t quad = 0; quad < turned; quad++) {
                _mm256_store_si256(reinterpret_cast<__m256i *>(panel[block].numbers[quad][column] + 4 * lane), numbers[quad]);
            }
            _mm256_store_ps(panel[block].scales + output,
                            _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i *>(scales))));
        }
    }
}

}  // namespace

bool has_vnni() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
}

bool can_multiply(const ggml_tensor * weights) {
    return weights->type == GGML_TYPE_Q8_0 || weights->type == GGML_TYPE_Q5_0 || weights->type == GGML_TYPE_Q4_0;
}

void pack_panel(const ggml_tensor * weights, size_t first, size_t second, PanelBlock * panel) {
    switch (weights->type) {
    case GGML_TYPE_Q8_0: return pack<GGML_TYPE_Q8_0>(weights, first, second, panel);
    case GGML_TYPE_Q5_0: return pack<GGML_TYPE_Q5_0>(weights, first, second, panel);
    default: return pack<GGML_TYPE_Q4_0>(weights, first, second, panel);
    }
}

namespace {

template <size_t width>
void multiply_rows(const QuantizedRows & input, size_t count, const PanelBlockOf<width> * panel, size_t blocks, TakeSums take,
                   const void * self) {
    for (size_t row = 0; row < count; row += rows_at_once) {
        alignas(64) float sums[rows_at_once][panel_outputs];
        multiply_tile(input, row, panel, blocks, sums);
        for (size_t r = 0; r < rows_at_once && row + r < count; r++) {
            take(self, row + r, sums[r]);
        }
    }
}

}  // namespace

void multiply_panel(const QuantizedRows & input, size_t count, const PanelBlock * panel, size_t blocks, TakeSums take,
                    const void * self) {
    multiply_rows(input, count, panel, blocks, take, self);
}

void multiply_panel(const QuantizedRows & input, size_t count, const WidePanelBlock * panel, size_t blocks, TakeSums take,
                    const void * self) {
    multiply_rows(input, count, panel, blocks, take, self);
}

AVX512_VNNI void quantize(const float * input, size_t count, const QuantizedRows & output, size_t row, size_t first_block) {
    const size_t width = output.block();
    int8_t * numbers = output.numbers(row) + first_block * width;
    QuantizedRows::Scale * scales = output.scales(row) + first_block;
    for (size_t block = 0; block < count / width; block++, input += width, numbers += width) {
        __m512 most_of = _mm512_setzero_ps();
        __m512 sum_of = _mm512_setzero_ps();
        for (size_t i = 0; i < width; i += lanes) {
            const __m512 values = _mm512_loadu_ps(input + i);
            most_of = _mm512_max_ps(most_of, _mm512_abs_ps(values));
            sum_of = _mm512_fmadd_ps(values, _mm512_setzero_ps(), sum_of);
        }
        const float most = _mm512_reduce_max_ps(most_of);
        const __m512 factor = _mm512_set1_ps(most > 0 ? 127 / most : 0);
        __m512i total = _mm512_setzero_si512();
        for (size_t i = 0; i < width; i += lanes) {
            const __m512i rounded = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(input + i), factor));
            total = _mm512_add_epi32(total, rounded);
            _mm_storeu_si128(reinterpret_cast<__m128i *>(numbers + i), _mm512_cvtsepi32_epi8(rounded));
        }
        // The largest number does not show one that is not a number; the sum does.
        const float sum = _mm512_reduce_add_ps(sum_of);
        scales[block] = {most / 127 + sum, -128 * _mm512_reduce_add_epi32(total)};
    }
}

}  // namespace transcribe

#endif
