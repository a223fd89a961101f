#include "packed-weights.h"

#if defined(__x86_64__)

#include "aligned.h"
#include "avx512.h"

#include <algorithm>
#include <cstring>

namespace transcribe {

namespace {

constexpr size_t block_width = 32;
constexpr size_t quads = block_width / 4;
constexpr size_t tile_rows = 16;
constexpr size_t columns_at_once = 6;
constexpr size_t lanes = 16;

// ggml's block of Q8_0.
struct Block {
    uint16_t scale;
    int8_t numbers[block_width];
};

// The same blocks of 16 rows. 128 is added to their numbers.
struct Tile {
    uint16_t scales[tile_rows];
    uint8_t numbers[quads][tile_rows][4];
};
static_assert(sizeof(Tile) == tile_rows * sizeof(Block));

// A block of a column; `offset` is -128 times the sum of its numbers.
struct alignas(8) ColumnBlock {
    int8_t numbers[block_width];
    float scale;
    int32_t offset;
};

using Quad __attribute__((may_alias)) = int32_t;

#define INLINE AVX512_VNNI inline __attribute__((always_inline))

// Sums of the columns. Members instead of arrays: GCC 12 leaves arrays in memory.
template <size_t columns> struct Sums {
    __m512i whole = {};
    __m512 total = {};
    Sums<columns - 1> rest = {};
};
template <> struct Sums<0> {};

template <size_t columns> INLINE void begin(Sums<columns> & sums, const ColumnBlock * column, size_t stride) {
    if constexpr (columns > 0) {
        sums.whole = _mm512_set1_epi32(column->offset);
        begin(sums.rest, column + stride, stride);
    }
}

template <size_t columns> INLINE void add(Sums<columns> & sums, __m512i weights, const ColumnBlock * column, size_t stride, size_t quad) {
    if constexpr (columns > 0) {
        asm("vpdpbusd %2%{1to16%}, %1, %0"
            : "+v"(sums.whole)
            : "v"(weights), "m"(*reinterpret_cast<const Quad *>(column->numbers + 4 * quad)));
        add(sums.rest, weights, column + stride, stride, quad);
    }
}

template <size_t columns> INLINE void end(Sums<columns> & sums, __m512 scales, const ColumnBlock * column, size_t stride) {
    if constexpr (columns > 0) {
        const __m512 factors = _mm512_mul_ps(scales, _mm512_set1_ps(column->scale));
        sums.total = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums.whole), factors, sums.total);
        end(sums.rest, scales, column + stride, stride);
    }
}

template <size_t columns> INLINE void store(const Sums<columns> & sums, __mmask16 is_row, float * output, size_t stride) {
    if constexpr (columns > 0) {
        _mm512_mask_storeu_ps(output, is_row, sums.total);
        store(sums.rest, is_row, output + stride, stride);
    }
}

template <size_t columns>
AVX512_VNNI void multiply_tile(const Tile * tile, size_t blocks, const ColumnBlock * column, __mmask16 is_row, float * output,
                               size_t stride) {
    Sums<columns> sums;
    for (size_t block = 0; block < blocks; block++) {
        begin(sums, column + block, blocks);
#pragma GCC unroll 8
        for (size_t quad = 0; quad < quads; quad++) {
            add(sums, _mm512_loadu_si512(tile[block].numbers[quad]), column + block, blocks, quad);
        }
        const __m512 scales = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(tile[block].scales)));
        end(sums, scales, column + block, blocks);
    }
    store(sums, is_row, output, stride);
}

void multiply_columns(const Tile * tile, size_t blocks, const ColumnBlock * column, size_t columns, size_t rows, float * output,
                      size_t stride) {
    const auto is_row = static_cast<__mmask16>((1u << rows) - 1);
    while (columns > 0) {
        const size_t few = std::min(columns, columns_at_once);
        switch (few) {
        case 1: multiply_tile<1>(tile, blocks, column, is_row, output, stride); break;
        case 2: multiply_tile<2>(tile, blocks, column, is_row, output, stride); break;
        case 3: multiply_tile<3>(tile, blocks, column, is_row, output, stride); break;
        case 4: multiply_tile<4>(tile, blocks, column, is_row, output, stride); break;
        case 5: multiply_tile<5>(tile, blocks, column, is_row, output, stride); break;
        case 6: multiply_tile<6>(tile, blocks, column, is_row, output, stride); break;
        }
        column += few * blocks;
        output += few * stride;
        columns -= few;
    }
}

void pack_tile(const Block * rows, size_t count, size_t blocks, Tile * tile) {
    for (size_t block = 0; block < blocks; block++) {
        for (size_t row = 0; row < tile_rows; row++) {
            const Block & from = rows[std::min(row, count - 1) * blocks + block];
            tile[block].scales[row] = from.scale;
            for (size_t quad = 0; quad < quads; quad++) {
                uint32_t numbers;
                std::memcpy(&numbers, from.numbers + 4 * quad, 4);
                numbers ^= 0x80808080;
                std::memcpy(tile[block].numbers[quad][row], &numbers, 4);
            }
        }
    }
}

AVX512_VNNI void quantize_column(const float * input, size_t blocks, ColumnBlock * column) {
    for (size_t block = 0; block < blocks; block++, input += block_width, column++) {
        const __m512 first = _mm512_loadu_ps(input);
        const __m512 second = _mm512_loadu_ps(input + lanes);
        const float most = _mm512_reduce_max_ps(_mm512_max_ps(_mm512_abs_ps(first), _mm512_abs_ps(second)));
        const __m512 factor = _mm512_set1_ps(most > 0 ? 127 / most : 0);
        const __m512i low = _mm512_cvtps_epi32(_mm512_mul_ps(first, factor));
        const __m512i high = _mm512_cvtps_epi32(_mm512_mul_ps(second, factor));
        _mm_storeu_si128(reinterpret_cast<__m128i *>(column->numbers), _mm512_cvtsepi32_epi8(low));
        _mm_storeu_si128(reinterpret_cast<__m128i *>(column->numbers + lanes), _mm512_cvtsepi32_epi8(high));
        // The largest number does not show one that is not a number; the sum does.
        const float sum = _mm512_reduce_add_ps(_mm512_mul_ps(_mm512_add_ps(first, second), _mm512_setzero_ps()));
        column->scale = most / 127 + sum;
        column->offset = -128 * _mm512_reduce_add_epi32(_mm512_add_epi32(low, high));
    }
}

AVX512_VNNI float to_float(uint16_t half) {
    return _cvtsh_ss(half);
}

}  // namespace

bool PackedWeights::is_supported() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
}

void PackedWeights::pack(void * weights, size_t rows, size_t width) {
    const size_t blocks = width / block_width;
    const Buffer<Block> copy = buffer<Block>(tile_rows * blocks);
    auto * from = static_cast<Block *>(weights);
    for (size_t row = 0; row + tile_rows <= rows; row += tile_rows, from += tile_rows * blocks) {
        std::memcpy(copy.get(), from, tile_rows * blocks * sizeof(Block));
        pack_tile(copy.get(), tile_rows, blocks, reinterpret_cast<Tile *>(from));
    }
}

void PackedWeights::unpack(size_t row, float * output) const {
    const size_t blocks = width / block_width;
    const size_t in_tile = row % tile_rows;
    const bool is_packed = row - in_tile + tile_rows <= rows;
    const Block * block = static_cast<const Block *>(weights) + row * blocks;
    const Tile * tile = static_cast<const Tile *>(weights) + row / tile_rows * blocks;
    for (size_t at = 0; at < width; at++) {
        const size_t b = at / block_width;
        const size_t i = at % block_width;
        output[at] = is_packed ? to_float(tile[b].scales[in_tile]) * (tile[b].numbers[i / 4][in_tile][i % 4] - 128)
                               : to_float(block[b].scale) * block[b].numbers[i];
    }
}

void PackedWeights::multiply(const float * input, size_t input_stride, size_t columns, float * output, size_t output_stride,
                             size_t part, size_t parts) const {
    const size_t blocks = width / block_width;
    const Buffer<ColumnBlock> quantized = buffer<ColumnBlock>(columns * blocks);
    for (size_t column = 0; column < columns; column++) {
        quantize_column(input + column * input_stride, blocks, quantized.get() + column * blocks);
    }
    const size_t tiles = (rows + tile_rows - 1) / tile_rows;
    Buffer<Tile> last;
    for (size_t at = tiles * part / parts; at < tiles * (part + 1) / parts; at++) {
        const size_t first = at * tile_rows;
        const size_t count = std::min(tile_rows, rows - first);
        const Tile * tile = static_cast<const Tile *>(weights) + at * blocks;
        if (count < tile_rows) {
            last = buffer<Tile>(blocks);
            pack_tile(static_cast<const Block *>(weights) + first * blocks, count, blocks, last.get());
            tile = last.get();
        }
        multiply_columns(tile, blocks, quantized.get(), columns, count, output + first, output_stride);
    }
}

}  // namespace transcribe

#else

namespace transcribe {

bool PackedWeights::is_supported() {
    return false;
}

void PackedWeights::pack(void *, size_t, size_t) {}

void PackedWeights::unpack(size_t, float *) const {}

void PackedWeights::multiply(const float *, size_t, size_t, float *, size_t, size_t, size_t) const {}

}  // namespace transcribe

#endif
