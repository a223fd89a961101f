// Sixteen numbers at once in a register of AVX-512. for-each.h includes this.

using Floats = __m512;
using Ints = __m512i;

INLINE Floats same(float number) {
    return _mm512_set1_ps(number);
}

INLINE Floats zeros() {
    return _mm512_setzero_ps();
}

INLINE Floats load(const float * from) {
    return _mm512_loadu_ps(from);
}

INLINE void store(float * to, Floats x) {
    _mm512_storeu_ps(to, x);
}

INLINE Floats load_halves(const uint16_t * from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
}

INLINE Floats add(Floats a, Floats b) {
    return _mm512_add_ps(a, b);
}

INLINE Floats subtract(Floats a, Floats b) {
    return _mm512_sub_ps(a, b);
}

INLINE Floats multiply(Floats a, Floats b) {
    return _mm512_mul_ps(a, b);
}

INLINE Floats divide(Floats a, Floats b) {
    return _mm512_div_ps(a, b);
}

INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
    return _mm512_fmadd_ps(a, b, c);
}

INLINE Floats largest(Floats a, Floats b) {
    return _mm512_max_ps(a, b);
}

INLINE Floats smallest(Floats a, Floats b) {
    return _mm512_min_ps(a, b);
}

INLINE Floats absolute(Floats x) {
    return _mm512_abs_ps(x);
}

INLINE Floats choose_by_sign(Floats x, Floats below, Floats others) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ), others, below);
}

INLINE Floats first_of(Floats x, size_t count, Floats rest) {
    return _mm512_mask_blend_ps(static_cast<__mmask16>(count >= 16 ? 0xffff : (1u << count) - 1), rest, x);
}

INLINE void store_first(float * to, Floats x, size_t count) {
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>(count >= 16 ? 0xffff : (1u << count) - 1), x);
}

INLINE float sum_of(Floats x) {
    return _mm512_reduce_add_ps(x);
}

INLINE float largest_of(Floats x) {
    return _mm512_reduce_max_ps(x);
}

// Relative error 2e-7: Taylor coefficients on [-0.5, 0.5], the last two fitted.
INLINE Floats power_of_two(Floats x) {
    x = _mm512_max_ps(x, _mm512_set1_ps(-120.0f));
    const __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 rest = _mm512_sub_ps(x, whole);
    __m512 sum = _mm512_set1_ps(1.3333558e-3f);
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(9.6181291e-3f));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(5.5504109e-2f));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(2.4022651e-1f));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(6.9314718e-1f));
    sum = _mm512_fmadd_ps(sum, rest, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(sum, whole);
}

INLINE Ints same_ints(int32_t number) {
    return _mm512_set1_epi32(number);
}

INLINE void store_ints(void * to, Ints x) {
    _mm512_storeu_si512(to, x);
}

INLINE Ints add_ints(Ints a, Ints b) {
    return _mm512_add_epi32(a, b);
}

INLINE Ints and_ints(Ints a, Ints b) {
    return _mm512_and_si512(a, b);
}

template <int bits> INLINE Ints shift_left(Ints x) {
    return _mm512_slli_epi32(x, bits);
}

INLINE int32_t sum_of_ints(Ints x) {
    return _mm512_reduce_add_epi32(x);
}

INLINE Floats to_floats(Ints x) {
    return _mm512_cvtepi32_ps(x);
}

INLINE Ints to_ints(Floats x) {
    return _mm512_cvtps_epi32(x);
}

INLINE void store_words(void * to, Ints x) {
    _mm256_storeu_si256(static_cast<__m256i *>(to), _mm512_cvtsepi32_epi16(x));
}

INLINE void store_bytes(int8_t * to, Ints x) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm512_cvtsepi32_epi8(x));
}

INLINE void store_lowest_bytes(void * to, Ints x) {
    _mm_storeu_si128(static_cast<__m128i *>(to), _mm512_cvtepi32_epi8(x));
}

using Register = __m512i;
using FloatRegister = __m512;
constexpr size_t register_lanes = 16;

INLINE Register load_register(const void * from) {
    return _mm512_loadu_si512(from);
}

INLINE Register same_register(int32_t number) {
    return _mm512_set1_epi32(number);
}

INLINE Register subtract_register(Register a, Register b) {
    return _mm512_sub_epi32(a, b);
}

INLINE FloatRegister same_float_register(float number) {
    return _mm512_set1_ps(number);
}

INLINE FloatRegister load_float_register(const float * from) {
    return _mm512_loadu_ps(from);
}

INLINE FloatRegister to_float_register(Register x) {
    return _mm512_cvtepi32_ps(x);
}

INLINE void store_float_register(float * to, FloatRegister x) {
    _mm512_storeu_ps(to, x);
}

INLINE Ints joined(const Register (&whole)[1]) {
    return whole[0];
}
