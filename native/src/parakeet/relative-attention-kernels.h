// The kernels of relative-attention.cpp, for each kind of instructions.

namespace {

constexpr size_t lanes = register_lanes;
// Uses 24 of AVX-512's 32 registers as sums, and 12 of AVX2's 16.
constexpr size_t rows = queries_at_once;
constexpr size_t columns = HAS_AVX512 ? 4 : 2;
constexpr size_t keys_at_once = columns * lanes;

// Returns the address of a register's vectors, which lie side by side in groups.
INLINE const float * at_column(const float * vectors, size_t stride, size_t column) {
    return vectors + column * lanes / turned_vectors * stride + column * lanes % turned_vectors;
}

// scores[row][vector] = query[row] · vector, for vectors [0, count).
void score(const float * queries, size_t width, const float * vectors, size_t stride, size_t count, float * scores) {
    for (size_t first = 0; first < count; first += keys_at_once) {
        FloatRegister sums[rows][columns];
        for (auto & row : sums) {
            for (auto & sum : row) {
                sum = same_float_register(0);
            }
        }
        const float * from = vectors + first / turned_vectors * stride;
        for (size_t d = 0; d < width; d++) {
            FloatRegister numbers[columns];
            for (size_t c = 0; c < columns; c++) {
                numbers[c] = load_float_register(at_column(from, stride, c) + d * turned_vectors);
            }
            for (size_t r = 0; r < rows; r++) {
                const FloatRegister query = same_float_register(queries[r * width + d]);
                for (size_t c = 0; c < columns; c++) {
                    sums[r][c] = multiply_add(query, numbers[c], sums[r][c]);
                }
            }
        }
        for (size_t r = 0; r < rows; r++) {
            for (size_t c = 0; c < columns; c++) {
                store_float_register(scores + r * count + first + c * lanes, sums[r][c]);
            }
        }
    }
}

// Adds the scores of positions and converts the sums to unnormalized shares. Returns the shares' sum.
float share(float * scores, const float * of_positions, size_t count, size_t padded) {
    const Floats least = same(-INFINITY);
    Floats most = least;
    for (size_t k = 0; k < count; k += turned_vectors) {
        const Floats sum = add(load(scores + k), load(of_positions + k));
        store(scores + k, sum);
        most = largest(most, first_of(sum, std::min(turned_vectors, count - k), least));
    }
    const Floats top = same(largest_of(most));
    Floats total = zeros();
    for (size_t k = 0; k < padded; k += turned_vectors) {
        const size_t many = k < count ? std::min(turned_vectors, count - k) : 0;
        const Floats power = first_of(power_of_two(subtract(load(scores + k), top)), many, zeros());
        total = add(total, power);
        store(scores + k, power);
    }
    return sum_of(total);
}

// output[row] = shares[row] · values / total[row], for `many` registers of dimensions.
template <size_t many>
void mix(const float * shares, size_t padded, const float * totals, const float * values, size_t width, size_t count,
         float * output, size_t stride, size_t valid) {
    FloatRegister sums[rows][many];
    for (auto & row : sums) {
        for (auto & sum : row) {
            sum = same_float_register(0);
        }
    }
    for (size_t k = 0; k < count; k++) {
        FloatRegister numbers[many];
        for (size_t c = 0; c < many; c++) {
            numbers[c] = load_float_register(values + k * width + c * lanes);
        }
        for (size_t r = 0; r < rows; r++) {
            const FloatRegister part = same_float_register(shares[r * padded + k]);
            for (size_t c = 0; c < many; c++) {
                sums[r][c] = multiply_add(part, numbers[c], sums[r][c]);
            }
        }
    }
    for (size_t r = 0; r < valid; r++) {
        const FloatRegister part = same_float_register(1.0f / totals[r]);
        for (size_t c = 0; c < many; c++) {
            store_float_register(output + r * stride + c * lanes, multiply(sums[r][c], part));
        }
    }
}

}  // namespace

void attend_rows(const RelativeAttention & attention, size_t head, size_t row, float * scratch, float * output) {
    const auto & [count, heads, width, queries, keys, values, key_bias, position_bias, positions, most] = attention;
    const size_t padded = whole(count, keys_at_once);
    const size_t distances = whole(most_distances(count), keys_at_once);
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
    const size_t start = position_of(most, static_cast<long>(row + rows - 1)) / turned_vectors * turned_vectors;
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
