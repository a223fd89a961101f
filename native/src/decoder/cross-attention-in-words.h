// Products of cross-attention with AVX2 and AVX-VNNI: bytes become words of 16 bits. cross-attention-kernels.h includes this.

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
