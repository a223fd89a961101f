// Attention in 16-bit integers, for each kind of instructions. A query, the keys of a head and its values have one scale each;
// weights are multiples of 1 / 8191 of the largest one. Sums have 32 bits, which their sizes below never exceed.

namespace {

constexpr size_t lanes = 16;
constexpr size_t columns = 4;
constexpr size_t rows = HAS_AVX512 ? 6 : 3;
constexpr size_t keys_at_once = columns * register_lanes;
// Queries for which a block of keys, and one of values, stays in the CPU's first cache.
constexpr size_t group_rows = 12;
// Values that are summed before the sums become floats.
constexpr size_t values_at_once = 64;
constexpr size_t dimensions_at_once = columns * register_lanes;

constexpr int query_limit = 4095;
constexpr int key_limit = 8191; // 64 · 4095 · 8191 < 2^31
constexpr int weight_limit = 8191;
constexpr int value_limit = 4095; // 64 · 8191 · 4095 < 2^31
static_assert(static_cast<int64_t>(head_width) * query_limit * key_limit < INT32_MAX);
static_assert(static_cast<int64_t>(values_at_once) * weight_limit * value_limit < INT32_MAX);

using Pair __attribute__((may_alias)) = int32_t; // two numbers of 16 bits, the first in the lower half

// Keys and values of a head in the layout that the products read.
struct Head {
    size_t padded;
    Buffer<int32_t> keys;   // [padded / keys_at_once][32 pairs of dimensions][keys_at_once]
    Buffer<int32_t> values; // [padded / 2 pairs of keys][64 dimensions]
    float key_scale = 0;
    float value_scale = 0;

    explicit Head(size_t padded)
        : padded(padded), keys(buffer<int32_t>(padded * head_width / 2)), values(buffer<int32_t>(padded * head_width / 2)) {}

    void fill(const float * key, const float * value, size_t count, size_t stride) {
        const float most_of_keys = most_of(key, count, stride);
        const float most_of_values = most_of(value, count, stride);
        key_scale = most_of_keys / key_limit;
        value_scale = most_of_values / value_limit;
        const Floats key_factor = same(most_of_keys > 0 ? key_limit / most_of_keys : 0);
        const Floats value_factor = same(most_of_values > 0 ? value_limit / most_of_values : 0);
        alignas(64) int16_t words[head_width];
        for (size_t position = 0; position < padded; position++) {
            int32_t * to = keys.get() + position / keys_at_once * keys_at_once * head_width / 2 + position % keys_at_once;
            for (size_t d = 0; d < head_width; d += lanes) {
                const Floats numbers = position < count ? load(key + position * stride + d) : zeros();
                store_words(words + d, to_ints(multiply(numbers, key_factor)));
            }
            for (size_t pair = 0; pair < head_width / 2; pair++) {
                to[pair * keys_at_once] = reinterpret_cast<const Pair *>(words)[pair];
            }
        }
        const Ints lower = same_ints(0xffff);
        for (size_t position = 0; position < padded; position += 2) {
            for (size_t d = 0; d < head_width; d += lanes) {
                const auto numbers = [&](size_t at) __attribute__((always_inline)) {
                    return to_ints(multiply(at < count ? load(value + at * stride + d) : zeros(), value_factor));
                };
                store_ints(values.get() + position / 2 * head_width + d,
                           add_ints(and_ints(numbers(position), lower), shift_left<16>(numbers(position + 1))));
            }
        }
    }

    // Returns the largest size, which is not a number if one of them is none.
    static float most_of(const float * numbers, size_t count, size_t stride) {
        Floats most = zeros();
        Floats sum_of_zeros = zeros();
        for (size_t position = 0; position < count; position++) {
            for (size_t d = 0; d < head_width; d += lanes) {
                const Floats number = load(numbers + position * stride + d);
                most = largest(most, absolute(number));
                sum_of_zeros = multiply_add(number, zeros(), sum_of_zeros);
            }
        }
        return largest_of(most) + sum_of(sum_of_zeros);
    }
};

// Adds the products of `rows` rows, `stride` pairs apart, with `columns` registers of the other factor for each pair of
// numbers, `width` pairs apart.
INLINE void add_products(const int32_t * row, size_t stride, const int32_t * others, size_t width, size_t pairs,
                         Register (&sums)[rows][columns]) {
    for (size_t pair = 0; pair < pairs; pair++) {
        const int32_t * factors = others + pair * width;
#pragma GCC unroll 6
        for (size_t r = 0; r < rows; r++) {
            const Register numbers = same_register(row[r * stride + pair]);
#pragma GCC unroll 4
            for (size_t c = 0; c < columns; c++) {
                add_word_products(sums[r][c], numbers, factors + c * register_lanes);
            }
        }
    }
}

// scores[row][key] = query · key · scale, for a group of queries
void score(const int32_t * queries, const float * scales, const Head & head, float * scores) {
    for (size_t block = 0; block < head.padded / keys_at_once; block++) {
        const int32_t * keys = head.keys.get() + block * keys_at_once * head_width / 2;
        for (size_t row = 0; row < group_rows; row += rows) {
            Register sums[rows][columns] = {};
            add_products(queries + row * head_width / 2, head_width / 2, keys, keys_at_once, head_width / 2, sums);
            for (size_t r = 0; r < rows; r++) {
                const FloatRegister scale = same_float_register(scales[row + r]);
                float * to = scores + (row + r) * head.padded + block * keys_at_once;
                for (size_t c = 0; c < columns; c++) {
                    store_float_register(to + c * register_lanes, to_float_register(sums[r][c]) * scale);
                }
            }
        }
    }
}

// Converts a row of scores to weights in 16 bits. Returns their sum, which is not a number if a score is none.
float weigh(float * scores, size_t count, size_t padded, int16_t * weights) {
    std::fill(scores + count, scores + padded, -INFINITY);
    Floats most = same(-INFINITY);
    for (size_t k = 0; k < padded; k += lanes) {
        most = largest(most, load(scores + k));
    }
    const Floats top = same(largest_of(most));
    const Floats limit = same(weight_limit);
    Ints total = same_ints(0);
    for (size_t k = 0; k < padded; k += lanes) {
        const Ints weight = to_ints(multiply(power_of_two(subtract(load(scores + k), top)), limit));
        total = add_ints(total, weight);
        store_words(weights + k, weight);
    }
    return static_cast<float>(sum_of_ints(total));
}

// output[row] = weights[row] · values, divided by the weights' sum
void mix(const int32_t * weights, const float * totals, const Head & head, float * output, size_t count, size_t stride) {
    alignas(64) float all[group_rows][head_width] = {};
    const size_t pairs = head.padded / 2;
    for (size_t first = 0; first < pairs; first += values_at_once / 2) {
        const size_t many = std::min(values_at_once / 2, pairs - first);
        for (size_t d = 0; d < head_width; d += dimensions_at_once) {
            for (size_t row = 0; row < group_rows; row += rows) {
                Register sums[rows][columns] = {};
                add_products(weights + row * pairs + first, pairs, head.values.get() + first * head_width + d, head_width, many,
                             sums);
                for (size_t r = 0; r < rows; r++) {
                    for (size_t c = 0; c < columns; c++) {
                        float * to = all[row + r] + d + c * register_lanes;
                        store_float_register(to, load_float_register(to) + to_float_register(sums[r][c]));
                    }
                }
            }
        }
    }
    for (size_t r = 0; r < count; r++) {
        const Floats part = same(head.value_scale / totals[r]);
        for (size_t d = 0; d < head_width; d += lanes) {
            store(output + r * stride + d, multiply(load(all[r] + d), part));
        }
    }
}

// Rounds a query. Returns the scale of its scores but for that of the keys.
float take_query(const float * query, int32_t * pairs) {
    Floats most = zeros();
    Floats sum_of_zeros = zeros();
    for (size_t d = 0; d < head_width; d += lanes) {
        most = largest(most, absolute(load(query + d)));
        sum_of_zeros = multiply_add(load(query + d), zeros(), sum_of_zeros);
    }
    const float size = largest_of(most);
    const Floats factor = same(size > 0 ? query_limit / size : 0);
    for (size_t d = 0; d < head_width; d += lanes) {
        store_words(pairs + d / 2, to_ints(multiply(load(query + d), factor)));
    }
    // Base 2 replaces base e: exp(x) = 2^(x · log2(e)). 8 is the square root of head_width.
    return size / query_limit * static_cast<float>(M_LOG2E / 8) + sum_of(sum_of_zeros);
}

}  // namespace

void attend_heads(const float * input, float * output, size_t count, size_t heads, size_t from, size_t to) {
    const size_t width = heads * head_width;
    const size_t stride = 3 * width;
    const size_t padded = (count + values_at_once - 1) / values_at_once * values_at_once;
    Head head(padded);
    const auto scores = buffer<float>(group_rows * padded);
    const auto weights = buffer<int32_t>(group_rows * padded / 2);
    alignas(64) int32_t queries[group_rows * head_width / 2] = {};
    for (size_t first = from * head_width; first < to * head_width; first += head_width) {
        head.fill(input + width + first, input + 2 * width + first, count, stride);
        for (size_t row = 0; row < count; row += group_rows) {
            const size_t many = std::min(group_rows, count - row);
            float scales[group_rows] = {};
            float totals[group_rows];
            for (size_t r = 0; r < many; r++) {
                scales[r] = take_query(input + (row + r) * stride + first, queries + r * head_width / 2) * head.key_scale;
            }
            score(queries, scales, head, scores.get());
            for (size_t r = 0; r < many; r++) {
                totals[r] = weigh(scores.get() + r * padded, count, padded,
                                  reinterpret_cast<int16_t *>(weights.get() + r * padded / 2));
            }
            mix(weights.get(), totals, head, output + row * width + first, many, width);
        }
    }
}
