#include "bfloat16-products.h"

#include <ggml.h>

#if defined(__x86_64__)

#include "bfloat16-tile.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace transcribe {

namespace {

constexpr size_t lanes = 16;
constexpr size_t columns = 2;
// Registers for the address of every third row are enough: the others are one or two strides after it.
constexpr size_t rows_of_address = 3;

// Multiplies rows that follow each other. With 12 rows it uses 24 of the 32 registers as sums of 16 lanes.
template <size_t rows>
AVX512 void multiply_tile(const Bfloat16 * input, size_t stride, const Bfloat16 * const (&weights)[columns], size_t inputs,
                          float (*output)[columns * lanes]) {
    const Bfloat16 * from[rows / rows_of_address];
    for (size_t i = 0; i < rows / rows_of_address; i++) {
        from[i] = input + i * rows_of_address * stride;
    }
    __m512 sums[rows][columns];
    for (auto & row : sums) {
        row[0] = row[1] = _mm512_setzero_ps();
    }
    const auto row = [&from, stride](size_t r) { return from[r / rows_of_address] + r % rows_of_address * stride; };
    add_products<rows, columns>(row, weights, 2 * lanes, inputs / 2, sums);
#pragma GCC unroll 12
    for (size_t r = 0; r < rows; r++) {
        _mm512_store_ps(output[r], sums[r][0]);
        _mm512_store_ps(output[r] + lanes, sums[r][1]);
    }
}

// Reads 16 weights as 32-bit floats.
template <ggml_type type> AVX512 inline __m512 read(const uint8_t * row, size_t column) {
    if constexpr (type == GGML_TYPE_F32) {
        return _mm512_loadu_ps(row + column * sizeof(float));
    } else {
        return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(row + column * sizeof(uint16_t))));
    }
}

// Packed numbers never lie behind the ones that they are made of, so 16 outputs at a time suffice.
template <ggml_type type> AVX512 void pack(const ggml_tensor * weights) {
    const auto inputs = static_cast<size_t>(weights->ne[0]);
    const auto outputs = static_cast<size_t>(weights->ne[1]);
    const auto rounded = buffer<Bfloat16>(lanes * inputs);
    auto * const data = static_cast<uint8_t *>(weights->data);
    auto * to = reinterpret_cast<uint32_t *>(data);
    const __m512i numbers_of_lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i places = _mm512_mullo_epi32(numbers_of_lanes, _mm512_set1_epi32(static_cast<int>(inputs / 2)));
    for (size_t first = 0; first < outputs; first += lanes) {
        for (size_t output = 0; output < lanes; output++) {
            const uint8_t * from = data + (first + output) * weights->nb[1];
            for (size_t column = 0; column < inputs; column += lanes) {
                store(rounded.get() + output * inputs + column, read<type>(from, column));
            }
        }
        for (size_t pair = 0; pair < inputs / 2; pair++, to += lanes) {
            _mm512_storeu_si512(to, _mm512_i32gather_epi32(places, rounded.get() + 2 * pair, sizeof(uint32_t)));
        }
    }
}

// Lets the system take back the whole pages of [from, to).
void release(const uint8_t * from, const uint8_t * to) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t first = (reinterpret_cast<uintptr_t>(from) + page - 1) / page * page;
    const uintptr_t end = reinterpret_cast<uintptr_t>(to) / page * page;
    if (first < end) {
        madvise(reinterpret_cast<void *>(first), end - first, MADV_DONTNEED);
    }
}

}  // namespace

bool can_pack(const ggml_tensor * weights) {
    return weights->type == GGML_TYPE_F16 || weights->type == GGML_TYPE_F32;
}

void pack_matrix(const ggml_tensor * weights) {
    if (weights->type == GGML_TYPE_F16) {
        return pack<GGML_TYPE_F16>(weights);
    }
    pack<GGML_TYPE_F32>(weights);
    const auto * data = static_cast<const uint8_t *>(weights->data);
    release(data + ggml_nbytes(weights) / 2, data + ggml_nbytes(weights));
}

void multiply_packed(const Bfloat16Rows & rows, size_t count, const ggml_tensor * weights, size_t first, size_t second,
                     void (*take)(const void * self, size_t row, const float * sums), const void * self) {
    const auto inputs = static_cast<size_t>(weights->ne[0]);
    const auto * matrix = static_cast<const Bfloat16 *>(weights->data);
    const Bfloat16 * const parts[columns] = {matrix + first * inputs, matrix + second * inputs};
    for (size_t row = 0; row < count; row += most_rows) {
        alignas(64) float sums[most_rows][columns * lanes];
        const size_t many = std::min(most_rows, count - row);
        if (many > most_rows / 2) {
            multiply_tile<most_rows>(rows.at(row), rows.width(), parts, inputs, sums);
        } else {
            multiply_tile<most_rows / 2>(rows.at(row), rows.width(), parts, inputs, sums);
        }
        for (size_t r = 0; r < many; r++) {
            take(self, row + r, sums[r]);
        }
    }
}

}  // namespace transcribe

#endif
