// Attention in integers, for each kind of instructions. Queries and keys have 8 bits: each channel of the keys has a scale, and
// a middle that adds the same to all scores of a query, so that it changes no weight. Weights have 13 bits, since small ones add
// up, and the values of a head have 12.

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

constexpr int query_limit = 127; // 128 is added
constexpr int weight_limit = 8191;
constexpr int value_limit = 4095;
static_assert(static_cast<int64_t>(values_at_once) * weight_limit * value_limit < INT32_MAX);

using Quad __attribute__((may_alias)) = int32_t;

// Keys and values of a head in the layout that the products read.
struct Head {
    size_t padded;
    Buffer<int32_t> keys;   // [padded / keys_at_once][16 times four dimensions][keys_at_once]
    Buffer<int32_t> sums;   // of each key, times the number that is added to queries
    Buffer<int32_t> values; // [padded / 2 pairs of keys][64 dimensions], the first of a pair in the lower half
    alignas(64) float key_scales[head_width];
    float value_scale = 0;

    explicit Head(size_t padded)
        : padded(padded), keys(buffer<int32_t>(padded * head_width / 4)), sums(buffer<int32_t>(padded)),
          values(buffer<int32_t>(padded * head_width / 2)) {}

    void take_keys(const float * key, size_t count, size_t stride) {
        alignas(64) float middles[head_width];
        for (size_t d = 0; d < head_width; d += lanes) {
            Floats most = load(key + d);
            Floats least = most;
            Floats sum_of_zeros = zeros();
            for (size_t position = 0; position < count; position++) {
                const Floats number = load(key + position * stride + d);
                most = largest(most, number);
                least = smallest(least, number);
                sum_of_zeros = multiply_add(number, zeros(), sum_of_zeros);
            }
            const Floats range = largest(subtract(most, least), same(1e-20f));
            // Adds x · 0, so that NaN reaches the scores.
            store(key_scales + d, add(multiply(range, same(0.5f / signed_limit)), sum_of_zeros));
            store(middles + d, multiply(add(most, least), same(0.5f)));
        }
        alignas(64) int8_t bytes[head_width] = {};
        for (size_t position = 0; position < padded; position++) {
            Ints total = same_ints(0);
            for (size_t d = 0; d < head_width && position < count; d += lanes) {
                const Floats distance = subtract(load(key + position * stride + d), load(middles + d));
                const Ints number = to_ints(divide(distance, load(key_scales + d)));
                store_bytes(bytes + d, number);
                total = add_ints(total, number);
            }
            sums[position] = (query_limit + 1) * sum_of_ints(total);
            int32_t * to = keys.get() + position / keys_at_once * keys_at_once * head_width / 4 + position % keys_at_once;
            for (size_t quad = 0; quad < head_width / 4; quad++) {
                to[quad * keys_at_once] = reinterpret_cast<const Quad *>(bytes)[quad];
            }
        }
    }

    void take_values(const float * value, size_t count, size_t stride) {
        const float most = most_of(value, count, stride);
        value_scale = most / value_limit;
        const Floats factor = same(most > 0 ? value_limit / most : 0);
        const Ints lower = same_ints(0xffff);
        for (size_t position = 0; position < padded; position += 2) {
            for (size_t d = 0; d < head_width; d += lanes) {
                const auto numbers = [&](size_t at) __attribute__((always_inline)) {
                    return to_ints(multiply(at < count ? load(value + at * stride + d) : zeros(), factor));
                };
                store_ints(values.get() + position / 2 * head_width + d,
                           add_ints(and_ints(numbers(position), lower), shift_left<16>(numbers(position + 1))));
            }
        }
    }

    // Returns the largest size; NaN if one of the numbers is NaN.
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

// Adds the products of `rows` rows, `stride` words apart, with `columns` registers of the other factor for each word of 32 bits,
// `width` words apart.
template <typename AddProduct>
INLINE void add_products(const int32_t * row, size_t stride, const int32_t * others, size_t width, size_t count,
                         Register (&sums)[rows][columns], const AddProduct & add_product) {
    for (size_t word = 0; word < count; word++) {
        const int32_t * factors = others + word * width;
#pragma GCC unroll 6
        for (size_t r = 0; r < rows; r++) {
            const Register numbers = same_register(row[r * stride + word]);
#pragma GCC unroll 4
            for (size_t c = 0; c < columns; c++) {
                add_product(sums[r][c], numbers, factors + c * register_lanes);
            }
        }
    }
}

// scores[row][key] = query · key · scale, for a group of queries
void score(const int32_t * queries, const float * scales, const Head & head, float * scores) {
    constexpr size_t quads = head_width / 4;
    const auto add_product = [](Register & sums, Register numbers, const int32_t * keys) __attribute__((always_inline)) {
        add_byte_products(sums, numbers, keys);
    };
    for (size_t block = 0; block < head.padded / keys_at_once; block++) {
        const int32_t * keys = head.keys.get() + block * keys_at_once * quads;
        for (size_t row = 0; row < group_rows; row += rows) {
            Register sums[rows][columns] = {};
            add_products(queries + row * quads, quads, keys, keys_at_once, quads, sums, add_product);
            for (size_t r = 0; r < rows; r++) {
                const FloatRegister scale = same_float_register(scales[row + r]);
                float * to = scores + (row + r) * head.padded + block * keys_at_once;
                for (size_t c = 0; c < columns; c++) {
                    const Register offset = load_register(head.sums.get() + block * keys_at_once + c * register_lanes);
                    store_float_register(to + c * register_lanes, to_float_register(subtract_register(sums[r][c], offset)) * scale);
                }
            }
        }
    }
}

// Converts a row of scores to weights in 16 bits. Returns their sum, which is 0 if the scores are NaN.
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
    const auto add_product = [](Register & sums, Register numbers, const int32_t * others) __attribute__((always_inline)) {
        add_word_products(sums, numbers, others);
    };
    const size_t pairs = head.padded / 2;
    for (size_t first = 0; first < pairs; first += values_at_once / 2) {
        const size_t many = std::min(values_at_once / 2, pairs - first);
        for (size_t d = 0; d < head_width; d += dimensions_at_once) {
            for (size_t row = 0; row < group_rows; row += rows) {
                Register sums[rows][columns] = {};
                add_products(weights + row * pairs + first, pairs, head.values.get() + first * head_width + d, head_width, many,
                             sums, add_product);
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

// Rounds a query. Returns the scale of its scores.
float take_query(const float * query, const Head & head, int32_t * quads) {
    Floats scaled[head_width / lanes];
    Floats most = zeros();
    Floats sum_of_zeros = zeros();
    for (size_t v = 0; v < head_width / lanes; v++) {
        // Base 2 replaces base e: exp(x) = 2^(x · log2(e)). 8 is the square root of head_width.
        const Floats number = multiply(load(query + v * lanes), same(static_cast<float>(M_LOG2E / 8)));
        scaled[v] = multiply(number, load(head.key_scales + v * lanes));
        most = largest(most, absolute(scaled[v]));
        sum_of_zeros = multiply_add(scaled[v], zeros(), sum_of_zeros);
    }
    const float size = largest_of(most);
    const Floats factor = same(size > 0 ? query_limit / size : 0);
    for (size_t v = 0; v < head_width / lanes; v++) {
        store_lowest_bytes(quads + v * lanes / 4, add_ints(to_ints(multiply(scaled[v], factor)), same_ints(query_limit + 1)));
    }
    return size / query_limit + sum_of(sum_of_zeros);
}

}  // namespace

void attend_heads(const AttentionInput & input, float * output, size_t heads, size_t from, size_t to) {
    const size_t width = heads * head_width;
    const size_t padded = (input.count + values_at_once - 1) / values_at_once * values_at_once;
    Head head(padded);
    const auto scores = buffer<float>(group_rows * padded);
    const auto weights = buffer<int32_t>(group_rows * padded / 2);
    alignas(64) int32_t queries[group_rows * head_width / 4] = {};
    for (size_t first = from * head_width; first < to * head_width; first += head_width) {
        head.take_keys(input.keys + first, input.count, input.stride);
        head.take_values(input.values + first, input.count, input.stride);
        for (size_t row = 0; row < input.query_count; row += group_rows) {
            const size_t many = std::min(group_rows, input.query_count - row);
            float scales[group_rows] = {};
            float totals[group_rows];
            for (size_t r = 0; r < many; r++) {
                const float * query = input.queries + (row + r) * input.query_stride + first;
                scales[r] = take_query(query, head, queries + r * head_width / 4);
            }
            score(queries, scales, head, scores.get());
            for (size_t r = 0; r < many; r++) {
                totals[r] = weigh(scores.get() + r * padded, input.count, padded,
                                  reinterpret_cast<int16_t *>(weights.get() + r * padded / 2));
            }
            mix(weights.get(), totals, head, output + row * width + first, many, width);
        }
    }
}
