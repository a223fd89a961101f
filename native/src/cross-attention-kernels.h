// The kernels of cross-attention.cpp, for each kind of instructions.

namespace {

using Head = CrossAttention::Head;

constexpr size_t lanes = 16;
constexpr size_t width = CrossAttention::head_width;
constexpr size_t vectors = width / lanes;
constexpr size_t most_positions = CrossAttention::most_positions;
// Largest sizes of the numbers of 16 bits. A query's low byte has a sign, too.
constexpr float query_limit = 127 * 256;
constexpr float weight_limit = HAS_AVX512 ? 65535 : 32767;
constexpr float log2e = static_cast<float>(M_LOG2E);

// Rounds each channel, relative to its mean, to 8 bits: [position][channel].
void quantize_channels(const uint16_t * input, size_t stride, size_t positions, float * scale, float * mean, int8_t * numbers) {
    for (size_t channel = 0; channel < width; channel += lanes) {
        Floats least = load_halves(input + channel);
        Floats most = least;
        Floats total = zeros();
        for (size_t at = 0; at < positions; at++) {
            const Floats number = load_halves(input + at * stride + channel);
            least = smallest(least, number);
            most = largest(most, number);
            total = add(total, number);
        }
        const Floats middle = divide(total, same(static_cast<float>(positions)));
        const Floats range = largest(subtract(most, middle), subtract(middle, least));
        const Floats step = largest(divide(range, same(127)), same(1e-20f));
        store(scale + channel, step);
        store(mean + channel, middle);
        const Floats factor = divide(same(1), step);
        for (size_t at = 0; at < positions; at++) {
            const Floats number = subtract(load_halves(input + at * stride + channel), middle);
            store_bytes(numbers + at * width + channel, to_ints(multiply(number, factor)));
        }
    }
}

// A query in 16 bits, and what its scores are made of.
struct Query {
    alignas(64) int16_t words[width];
    float step;
    float mean_score;
    int32_t total;
};

// Multiplies with the keys' scales and rounds. Weights are powers of two, so `factor` contains log2(e).
inline void take_query(const float * numbers, const Head & head, Floats factor, Query & query) {
    Floats scaled[vectors];
    Floats mean = zeros();
    Floats most = zeros();
    for (size_t v = 0; v < vectors; v++) {
        const Floats number = multiply(load(numbers + v * lanes), factor);
        mean = multiply_add(number, load(head.key_mean + v * lanes), mean);
        scaled[v] = multiply(number, load(head.key_scale + v * lanes));
        most = largest(most, absolute(scaled[v]));
    }
    query.mean_score = sum_of(mean);
    query.step = std::max(largest_of(most) / query_limit, 1e-30f);
    Ints total = same_ints(0);
    for (size_t v = 0; v < vectors; v++) {
        const Ints whole = to_ints(divide(scaled[v], same(query.step)));
        store_words(query.words + v * lanes, whole);
        total = add_ints(total, whole);
    }
    query.total = sum_of_ints(total);
}

#if HAS_AVX512

// Adds the products of four unsigned bytes of each lane with four signed ones. GCC 12 stores the sums after each step if the
// intrinsic function is used.
inline void add_bytes(__m512i & sums, __m512i unsigned_bytes, const int8_t * quad) {
    asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sums) : "v"(unsigned_bytes), "m"(*reinterpret_cast<const Quad *>(quad)));
}

inline void add_bytes(__m512i & sums, __m512i unsigned_bytes, __m512i signed_bytes) {
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

inline __m512i same_quad(const uint8_t * quad) {
    int32_t number;
    std::memcpy(&number, quad, sizeof number);
    return _mm512_set1_epi32(number);
}

template <size_t queries>
INLINE void add_keys(KeySums<queries> & sums, __m512i keys, const int8_t * upper, const int8_t * lower) {
    if constexpr (queries > 0) {
        add_bytes(sums.upper, keys, upper);
        add_bytes(sums.lower, keys, lower);
        add_keys(sums.rest, keys, upper + width, lower + width);
    }
}

template <size_t queries>
INLINE void add_values(ValueSums<queries> & sums, __m512i first, __m512i second, const uint8_t * upper, const uint8_t * lower) {
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

template <size_t queries> INLINE void put(const KeySums<queries> & sums, __m512i * to) {
    if constexpr (queries > 0) {
        *to = _mm512_add_epi32(_mm512_slli_epi32(sums.upper, 8), sums.lower);
        put(sums.rest, to + 1);
    }
}

template <size_t queries> INLINE void put(const ValueSums<queries> & sums, __m512 (*to)[2]) {
    if constexpr (queries > 0) {
        (*to)[0] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums.upper), _mm512_set1_ps(256), _mm512_cvtepi32_ps(sums.lower));
        (*to)[1] =
            _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums.upper_next), _mm512_set1_ps(256), _mm512_cvtepi32_ps(sums.lower_next));
        put(sums.rest, to + 1);
    }
}

// Four channels of sixteen positions side by side, with 128 added.
void order_keys(const int8_t * numbers, size_t end, Head & head) {
    const __m128i offset = _mm_set1_epi8(-128);
    for (size_t at = 0; at < end; at += 4) {
        for (size_t quad = 0; quad < width / 4; quad += 4) {
            const Four rows(numbers + at * width + 4 * quad, width);
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
}

// Four positions of sixteen channels side by side.
void order_values(const int8_t * numbers, size_t end, Head & head) {
    for (size_t at = 0; at < end; at += 4) {
        for (size_t vector = 0; vector < vectors; vector++) {
            const Four rows(numbers + at * width + vector * lanes, width);
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

// Multiplies the keys with queries in two bytes for each number.
template <size_t count> struct Keys {
    explicit Keys(const Query (&queries)[count]) {
        for (size_t q = 0; q < count; q++) {
            for (size_t v = 0; v < width; v += lanes) {
                const __m512i whole = _mm512_cvtepi16_epi32(_mm256_load_si256(reinterpret_cast<const __m256i *>(queries[q].words + v)));
                const __m512i last = _mm512_srai_epi32(_mm512_slli_epi32(whole, 24), 24);
                const __m512i first = _mm512_srai_epi32(_mm512_sub_epi32(whole, last), 8);
                store_lowest_bytes(low[q] + v, last);
                store_lowest_bytes(high[q] + v, first);
            }
            offset[q] = _mm512_set1_epi32(-128 * queries[q].total);
        }
    }

    INLINE void multiply(const Head & head, size_t block, Ints (&products)[count]) const {
        KeySums<count> sums;
#pragma GCC unroll 4
        for (size_t quad = 0; quad < width / 4; quad++) {
            add_keys(sums, _mm512_load_si512(head.keys[block][quad]), high[0] + 4 * quad, low[0] + 4 * quad);
        }
        put(sums, products);
        for (size_t q = 0; q < count; q++) {
            products[q] = _mm512_add_epi32(products[q], offset[q]);
        }
    }

    alignas(64) int8_t high[count][width];
    alignas(64) int8_t low[count][width];
    __m512i offset[count];
};

// Weights of the positions in two bytes each, and their products with the values.
template <size_t count> struct Weights {
    alignas(64) uint8_t high[count][most_positions];
    alignas(64) uint8_t low[count][most_positions];

    void set(size_t q, size_t at, Ints weights) {
        store_lowest_bytes(high[q] + at, _mm512_srli_epi32(weights, 8));
        store_lowest_bytes(low[q] + at, weights);
    }

    void multiply(const Head & head, size_t blocks, Floats (&products)[count][vectors]) const {
        for (size_t half = 0; half < width / 32; half++) {
            ValueSums<count> sums;
            for (size_t four = 0; four < 4 * blocks; four++) {
                add_values(sums, _mm512_load_si512(head.values[half][four][0]), _mm512_load_si512(head.values[half][four][1]),
                           high[0] + 4 * four, low[0] + 4 * four);
            }
            __m512 two[count][2];
            put(sums, two);
            for (size_t q = 0; q < count; q++) {
                products[q][2 * half] = two[q][0];
                products[q][2 * half + 1] = two[q][1];
            }
        }
    }
};

#else

// Two channels of sixteen positions side by side.
void order_keys(const int8_t * numbers, size_t end, Head & head) {
    for (size_t at = 0; at < end; at++) {
        auto * to = reinterpret_cast<Pair *>(head.keys) + at / 16 * 16 * (width / 2) + at % 16;
        for (size_t pair = 0; pair < width / 2; pair++) {
            to[16 * pair] = reinterpret_cast<const Pair *>(numbers + at * width)[pair];
        }
    }
}

// Two positions of sixteen channels side by side: [channel / 16][position / 2][16][2].
void order_values(const int8_t * numbers, size_t end, Head & head) {
    for (size_t at = 0; at < end; at += 2) {
        for (size_t vector = 0; vector < vectors; vector++) {
            const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i *>(numbers + at * width + vector * lanes));
            const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i *>(numbers + (at + 1) * width + vector * lanes));
            auto * to = reinterpret_cast<__m128i *>(head.values) + (vector * most_positions / 2 + at / 2) * 2;
            _mm_store_si128(to, _mm_unpacklo_epi8(first, second));
            _mm_store_si128(to + 1, _mm_unpackhi_epi8(first, second));
        }
    }
}

// Sums for each query. Members instead of an array: GCC 12 leaves arrays in memory.
template <size_t queries> struct WordSums {
    Register low = {};
    Register high = {};
    WordSums<queries - 1> rest = {};
};
template <> struct WordSums<0> {};

INLINE Register widened(const void * bytes) {
    return _mm256_cvtepi8_epi16(_mm_load_si128(static_cast<const __m128i *>(bytes)));
}

// Adds the products of sixteen pairs with a pair of each query, `stride` numbers apart.
template <size_t queries>
INLINE void add_pairs(WordSums<queries> & sums, Register low, Register high, const int16_t * words, size_t stride) {
    if constexpr (queries > 0) {
        const Register pair = same_register(*reinterpret_cast<const WordPair *>(words));
        add_word_products(sums.low, pair, low);
        add_word_products(sums.high, pair, high);
        add_pairs(sums.rest, low, high, words + stride, stride);
    }
}

template <size_t queries> INLINE void put(const WordSums<queries> & sums, Ints * to) {
    if constexpr (queries > 0) {
        *to = {sums.low, sums.high};
        put(sums.rest, to + 1);
    }
}

template <size_t count> struct Keys {
    explicit Keys(const Query (&queries)[count]) : queries(queries) {}

    INLINE void multiply(const Head & head, size_t block, Ints (&products)[count]) const {
        WordSums<count> sums;
        const uint8_t * keys = head.keys[block][0][0];
        for (size_t pair = 0; pair < width / 2; pair++) {
            add_pairs(sums, widened(keys + 32 * pair), widened(keys + 32 * pair + 16), queries[0].words + 2 * pair,
                      sizeof(Query) / sizeof(int16_t));
        }
        put(sums, products);
    }

    const Query (&queries)[count];
};

// Weights of the positions, and their products with the values.
template <size_t count> struct Weights {
    // Positions whose products are summed in 32 bits: 512 · 32767 · 127 < 2^31.
    static constexpr size_t pairs_at_once = 256;

    alignas(64) int16_t words[count][most_positions];

    void set(size_t q, size_t at, Ints weights) { store_words(words[q] + at, weights); }

    void multiply(const Head & head, size_t blocks, Floats (&products)[count][vectors]) const {
        for (size_t vector = 0; vector < vectors; vector++) {
            const auto * values = reinterpret_cast<const int8_t *>(head.values) + vector * most_positions * lanes;
            for (size_t q = 0; q < count; q++) {
                products[q][vector] = zeros();
            }
            for (size_t first = 0; first < 8 * blocks; first += pairs_at_once) {
                WordSums<count> sums;
                for (size_t pair = first; pair < std::min(8 * blocks, first + pairs_at_once); pair++) {
                    add_pairs(sums, widened(values + 32 * pair), widened(values + 32 * pair + 16), words[0] + 2 * pair,
                              most_positions);
                }
                Ints whole[count];
                put(sums, whole);
                for (size_t q = 0; q < count; q++) {
                    products[q][vector] = add(products[q][vector], to_floats(whole[q]));
                }
            }
        }
    }
};

#endif

template <size_t count>
void attend_few(const Head & head, size_t positions, size_t padding, const float * queries, size_t query_stride, float scale,
                float * output, size_t output_stride) {
    const size_t blocks = (positions + lanes - 1) / lanes;
    Query rounded[count];
    for (size_t q = 0; q < count; q++) {
        take_query(queries + q * query_stride, head, same(scale * log2e), rounded[q]);
    }

    alignas(64) float scores[count][most_positions];
    Floats most[count];
    for (size_t q = 0; q < count; q++) {
        most[q] = same(-INFINITY);
    }
    const Keys<count> keys(rounded);
    for (size_t block = 0; block < blocks; block++) {
        Ints products[count];
        keys.multiply(head, block, products);
        for (size_t q = 0; q < count; q++) {
            const Floats all = multiply(to_floats(products[q]), same(rounded[q].step));
            const Floats score = first_of(all, std::min(lanes, positions - block * lanes), same(-INFINITY));
            store(scores[q] + block * lanes, score);
            most[q] = largest(most[q], score);
        }
    }

    Weights<count> weights;
    float of_values[count]; // sums of weights
    float of_all[count];
    for (size_t q = 0; q < count; q++) {
        const float mean_score = rounded[q].mean_score;
        float best = largest_of(most[q]);
        if (padding > 0) {
            best = std::max(best, -mean_score);
        }
        Ints total = same_ints(0);
        for (size_t block = 0; block < blocks; block++) {
            const Floats score = subtract(load(scores[q] + block * lanes), same(best));
            const Ints weight = to_ints(multiply(power_of_two(score), same(weight_limit)));
            weights.set(q, block * lanes, weight);
            total = add_ints(total, weight);
        }
        of_values[q] = static_cast<float>(sum_of_ints(total));
        // Without padding the product still shows a number that is not finite.
        const float of_padding =
            padding > 0 ? static_cast<float>(padding) * weight_limit * std::exp2(-mean_score - best) : 0 * mean_score;
        of_all[q] = of_values[q] + of_padding;
    }

    Floats products[count][vectors];
    weights.multiply(head, blocks, products);
    for (size_t q = 0; q < count; q++) {
        for (size_t v = 0; v < vectors; v++) {
            const Floats mean = multiply(load(head.value_mean + v * lanes), same(of_values[q]));
            const Floats all = multiply_add(products[q][v], load(head.value_scale + v * lanes), mean);
            store(output + q * output_stride + v * lanes, divide(all, same(of_all[q])));
        }
    }
}

}  // namespace

// `numbers` is working memory for all positions of a head.
void pack_head(Head & head, const uint16_t * keys, const uint16_t * values, size_t stride, size_t positions, int8_t * numbers) {
    // The positions from the last one to the end of its block are like the mean; their weights are zero.
    const size_t end = (positions + lanes - 1) / lanes * lanes;
    std::memset(numbers + positions * width, 0, (end - positions) * width);
    quantize_channels(keys, stride, positions, head.key_scale, head.key_mean, numbers);
    order_keys(numbers, end, head);
    quantize_channels(values, stride, positions, head.value_scale, head.value_mean, numbers);
    order_values(numbers, end, head);
}

void attend(const Head & head, size_t positions, size_t padding, const float * queries, size_t query_stride, size_t count,
            float scale, float * output, size_t output_stride) {
    while (count > 0) {
        const size_t few = std::min(count, CrossAttention::most_queries);
        switch (few) {
        case 1: attend_few<1>(head, positions, padding, queries, query_stride, scale, output, output_stride); break;
        case 2: attend_few<2>(head, positions, padding, queries, query_stride, scale, output, output_stride); break;
        case 3: attend_few<3>(head, positions, padding, queries, query_stride, scale, output, output_stride); break;
        case 4: attend_few<4>(head, positions, padding, queries, query_stride, scale, output, output_stride); break;
        case 5: attend_few<5>(head, positions, padding, queries, query_stride, scale, output, output_stride); break;
        }
        queries += few * query_stride;
        output += few * output_stride;
        count -= few;
    }
}
