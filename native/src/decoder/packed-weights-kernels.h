// The kernels of packed-weights.cpp, for each kind of instructions.

namespace {

#if HAS_AVX512

constexpr size_t registers = 1;

INLINE void add_quad(Register & sums, Register weights, const int8_t * numbers) {
    asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sums) : "v"(weights), "m"(*reinterpret_cast<const Quad *>(numbers)));
}

#else

constexpr size_t registers = 2;

INLINE void add_quad(Register & sums, Register weights, const int8_t * numbers) {
    add_byte_products(sums, weights, same_register(*reinterpret_cast<const Quad *>(numbers)));
}

#endif

// Sums of the columns. Members instead of arrays: GCC 12 leaves arrays in memory.
template <size_t columns> struct Sums {
    Register whole[registers] = {};
    Floats total = {};
    Sums<columns - 1> rest = {};
};
template <> struct Sums<0> {};

template <size_t columns> INLINE void begin(Sums<columns> & sums, const ColumnBlock * column, size_t stride) {
    if constexpr (columns > 0) {
        for (auto & whole : sums.whole) {
            whole = same_register(column->offset);
        }
        begin(sums.rest, column + stride, stride);
    }
}

template <size_t columns>
INLINE void add(Sums<columns> & sums, const Register (&weights)[registers], const ColumnBlock * column, size_t stride, size_t quad) {
    if constexpr (columns > 0) {
        for (size_t i = 0; i < registers; i++) {
            add_quad(sums.whole[i], weights[i], column->numbers + 4 * quad);
        }
        add(sums.rest, weights, column + stride, stride, quad);
    }
}

template <size_t columns> INLINE void end(Sums<columns> & sums, Floats scales, const ColumnBlock * column, size_t stride) {
    if constexpr (columns > 0) {
        const Floats factors = multiply(scales, same(column->scale));
        sums.total = multiply_add(to_floats(joined(sums.whole)), factors, sums.total);
        end(sums.rest, scales, column + stride, stride);
    }
}

template <size_t columns> INLINE void put(const Sums<columns> & sums, size_t rows, float * output, size_t stride) {
    if constexpr (columns > 0) {
        store_first(output, sums.total, rows);
        put(sums.rest, rows, output + stride, stride);
    }
}

template <size_t columns>
void multiply_tile(const Tile * tile, size_t blocks, const ColumnBlock * column, size_t rows, float * output, size_t stride) {
    Sums<columns> sums;
    for (size_t block = 0; block < blocks; block++) {
        begin(sums, column + block, blocks);
#pragma GCC unroll 8
        for (size_t quad = 0; quad < quads; quad++) {
            Register weights[registers];
            for (size_t i = 0; i < registers; i++) {
                weights[i] = load_register(tile[block].numbers[quad][i * register_lanes]);
            }
            add(sums, weights, column + block, blocks, quad);
        }
        end(sums, load_halves(tile[block].scales), column + block, blocks);
    }
    put(sums, rows, output, stride);
}

}  // namespace

void multiply_columns(const Tile * tile, size_t blocks, const ColumnBlock * column, size_t columns, size_t rows, float * output,
                      size_t stride) {
    while (columns > 0) {
        const size_t few = std::min(columns, columns_at_once);
        switch (few) {
        case 1: multiply_tile<1>(tile, blocks, column, rows, output, stride); break;
        case 2: multiply_tile<2>(tile, blocks, column, rows, output, stride); break;
        case 3: multiply_tile<3>(tile, blocks, column, rows, output, stride); break;
        case 4: multiply_tile<4>(tile, blocks, column, rows, output, stride); break;
        case 5: multiply_tile<5>(tile, blocks, column, rows, output, stride); break;
        case 6: multiply_tile<6>(tile, blocks, column, rows, output, stride); break;
        }
        column += few * blocks;
        output += few * stride;
        columns -= few;
    }
}

void quantize_column(const float * input, size_t blocks, ColumnBlock * column) {
    constexpr size_t lanes = 16;
    for (size_t block = 0; block < blocks; block++, input += block_width, column++) {
        const Floats first = load(input);
        const Floats second = load(input + lanes);
        const float most = largest_of(largest(absolute(first), absolute(second)));
        const Floats factor = same(most > 0 ? signed_limit / most : 0);
        const Ints low = to_ints(multiply(first, factor));
        const Ints high = to_ints(multiply(second, factor));
        store_bytes(column->numbers, low);
        store_bytes(column->numbers + lanes, high);
        // The largest number does not show one that is not a number; the sum does.
        const float sum = sum_of(multiply(add(first, second), zeros()));
        column->scale = most / signed_limit + sum;
        column->offset = -128 * sum_of_ints(add_ints(low, high));
    }
}

float to_float(uint16_t half) {
    return _cvtsh_ss(half);
}
