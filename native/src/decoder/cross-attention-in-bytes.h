// Products of cross-attention with AVX-512: numbers of 16 bits in two bytes. cross-attention-kernels.h includes this.

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
