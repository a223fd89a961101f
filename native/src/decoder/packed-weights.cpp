#include "packed-weights.h"

#if defined(__x86_64__)

#include "kernels/aligned.h"

#include <algorithm>
#include <cstring>

namespace transcribe {

namespace {

constexpr size_t block_width = 32;
constexpr size_t quads = block_width / 4;
constexpr size_t tile_rows = 16;
constexpr size_t columns_at_once = 6;

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

}  // namespace

}  // namespace transcribe

#define KERNELS "decoder/packed-weights-kernels.h"
#include "kernels/lanes/for-each.h"

namespace transcribe {

namespace {

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

}  // namespace

bool PackedWeights::is_supported() {
    return instructions() != Instructions::none;
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
        output[at] = is_packed ? CALL_KERNEL(to_float, tile[b].scales[in_tile]) * (tile[b].numbers[i / 4][in_tile][i % 4] - 128)
                               : CALL_KERNEL(to_float, block[b].scale) * block[b].numbers[i];
    }
}

void PackedWeights::multiply(const float * input, size_t input_stride, size_t columns, float * output, size_t output_stride,
                             size_t part, size_t parts) const {
    const size_t blocks = width / block_width;
    const Buffer<ColumnBlock> quantized = buffer<ColumnBlock>(columns * blocks);
    for (size_t column = 0; column < columns; column++) {
        CALL_KERNEL(quantize_column, input + column * input_stride, blocks, quantized.get() + column * blocks);
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
        CALL_KERNEL(multiply_columns, tile, blocks, quantized.get(), columns, count, output + first, output_stride);
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
