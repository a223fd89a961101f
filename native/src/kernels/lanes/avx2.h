// Sixteen numbers at once in two registers of AVX2, with FMA and F16C. for-each.h includes this.

struct Floats {
    __m256 low;
    __m256 high;
};

struct Ints {
    __m256i low;
    __m256i high;
};

INLINE Floats same(float number) {
    const __m256 half = _mm256_set1_ps(number);
    return {half, half};
}

INLINE Floats zeros() {
    return {_mm256_setzero_ps(), _mm256_setzero_ps()};
}

INLINE Floats load(const float * from) {
    return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)};
}

INLINE void store(float * to, Floats x) {
    _mm256_storeu_ps(to, x.low);
    _mm256_storeu_ps(to + 8, x.high);
}

// Loads floats of 16 bits.
INLINE Floats load_halves(const uint16_t * from) {
    return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))),
            _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from + 8)))};
}

INLINE Floats add(Floats a, Floats b) {
    return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}

INLINE Floats subtract(Floats a, Floats b) {
    return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}

INLINE Floats multiply(Floats a, Floats b) {
    return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}

INLINE Floats divide(Floats a, Floats b) {
    return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
}

// Returns a · b + c.
INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
    return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}

INLINE Floats largest(Floats a, Floats b) {
    return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}

INLINE Floats smallest(Floats a, Floats b) {
    return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
}

INLINE Floats absolute(Floats x) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {_mm256_andnot_ps(sign, x.low), _mm256_andnot_ps(sign, x.high)};
}

// Returns `below` where x is below zero, otherwise `others`.
INLINE Floats choose_by_sign(Floats x, Floats below, Floats others) {
    return {_mm256_blendv_ps(others.low, below.low, _mm256_cmp_ps(x.low, _mm256_setzero_ps(), _CMP_LT_OQ)),
            _mm256_blendv_ps(others.high, below.high, _mm256_cmp_ps(x.high, _mm256_setzero_ps(), _CMP_LT_OQ))};
}

// Returns the first `count` numbers of x, and `rest` in the others' places.
INLINE Floats first_of(Floats x, size_t count, Floats rest) {
    const __m256i places = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    const auto many = static_cast<int>(count);
    return {_mm256_blendv_ps(rest.low, x.low, _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(many), places))),
            _mm256_blendv_ps(rest.high, x.high, _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(many - 8), places)))};
}

INLINE void store_first(float * to, Floats x, size_t count) {
    const __m256i places = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    const auto many = static_cast<int>(count);
    _mm256_maskstore_ps(to, _mm256_cmpgt_epi32(_mm256_set1_epi32(many), places), x.low);
    _mm256_maskstore_ps(to + 8, _mm256_cmpgt_epi32(_mm256_set1_epi32(many - 8), places), x.high);
}

INLINE float sum_of(Floats x) {
    const __m256 eight = _mm256_add_ps(x.low, x.high);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

INLINE float largest_of(Floats x) {
    const __m256 eight = _mm256_max_ps(x.low, x.high);
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

INLINE __m256 eighth_power_of_two(__m256 x) {
    x = _mm256_max_ps(x, _mm256_set1_ps(-120.0f));
    const __m256 whole = _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m256 rest = _mm256_sub_ps(x, whole);
    __m256 sum = _mm256_set1_ps(1.3333558e-3f);
    sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(9.6181291e-3f));
    sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(5.5504109e-2f));
    sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(2.4022651e-1f));
    sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(6.9314718e-1f));
    sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(1.0f));
    const __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(whole), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(sum), exponent));
}

// Returns 2^x for x <= 126, and 2^-120 for NaN.
INLINE Floats power_of_two(Floats x) {
    return {eighth_power_of_two(x.low), eighth_power_of_two(x.high)};
}

INLINE Ints same_ints(int32_t number) {
    const __m256i half = _mm256_set1_epi32(number);
    return {half, half};
}

INLINE void store_ints(void * to, Ints x) {
    auto * half = static_cast<__m256i *>(to);
    _mm256_storeu_si256(half, x.low);
    _mm256_storeu_si256(half + 1, x.high);
}

INLINE Ints add_ints(Ints a, Ints b) {
    return {_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)};
}

INLINE Ints and_ints(Ints a, Ints b) {
    return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)};
}

template <int bits> INLINE Ints shift_left(Ints x) {
    return {_mm256_slli_epi32(x.low, bits), _mm256_slli_epi32(x.high, bits)};
}

INLINE int32_t sum_of_ints(Ints x) {
    const __m256i eight = _mm256_add_epi32(x.low, x.high);
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

INLINE Floats to_floats(Ints x) {
    return {_mm256_cvtepi32_ps(x.low), _mm256_cvtepi32_ps(x.high)};
}

// Rounds to the nearest whole numbers.
INLINE Ints to_ints(Floats x) {
    return {_mm256_cvtps_epi32(x.low), _mm256_cvtps_epi32(x.high)};
}

// Puts the halves of packed numbers of 16 bits into their order.
INLINE __m256i in_order(__m256i packed) {
    return _mm256_permute4x64_epi64(packed, 0xd8);
}

// Stores numbers of 16 bits.
INLINE void store_words(void * to, Ints x) {
    _mm256_storeu_si256(static_cast<__m256i *>(to), in_order(_mm256_packs_epi32(x.low, x.high)));
}

// Stores numbers of 8 bits; larger ones become the largest.
INLINE void store_bytes(int8_t * to, Ints x) {
    const __m256i words = in_order(_mm256_packs_epi32(x.low, x.high));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to),
                     _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}

// Stores the lowest 8 bits of each number.
INLINE void store_lowest_bytes(void * to, Ints x) {
    const __m256i bytes = _mm256_set1_epi32(0xff);
    const __m256i words = in_order(_mm256_packus_epi32(_mm256_and_si256(x.low, bytes), _mm256_and_si256(x.high, bytes)));
    _mm_storeu_si128(static_cast<__m128i *>(to),
                     _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}

// One register of integers, and of floats.
using Register = __m256i;
using FloatRegister = __m256;
constexpr size_t register_lanes = 8;

INLINE Register load_register(const void * from) {
    return _mm256_loadu_si256(static_cast<const __m256i *>(from));
}

INLINE Register same_register(int32_t number) {
    return _mm256_set1_epi32(number);
}

INLINE Register subtract_register(Register a, Register b) {
    return _mm256_sub_epi32(a, b);
}

INLINE FloatRegister same_float_register(float number) {
    return _mm256_set1_ps(number);
}

INLINE FloatRegister load_float_register(const float * from) {
    return _mm256_loadu_ps(from);
}

INLINE FloatRegister to_float_register(Register x) {
    return _mm256_cvtepi32_ps(x);
}

INLINE FloatRegister multiply_add(FloatRegister a, FloatRegister b, FloatRegister c) {
    return _mm256_fmadd_ps(a, b, c);
}

INLINE FloatRegister multiply(FloatRegister a, FloatRegister b) {
    return _mm256_mul_ps(a, b);
}

INLINE FloatRegister largest(FloatRegister a, FloatRegister b) {
    return _mm256_max_ps(a, b);
}

INLINE void store_float_register(float * to, FloatRegister x) {
    _mm256_storeu_ps(to, x);
}

// Returns sixteen numbers of two registers.
INLINE Ints joined(const Register (&halves)[2]) {
    return {halves[0], halves[1]};
}
