#pragma once

#include <immintrin.h>

#include <cmath>

// Compile a function for CPUs with AVX-512, whatever the rest is compiled for: with BF16, or without it.
// Call such functions only on such CPUs.
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,fma")))
#define AVX512_BASE __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,fma")))

namespace transcribe {

// Returns 2^x for x <= 0 with a relative error of 2e-7 (Taylor coefficients on [-0.5, 0.5], the last two fitted).
AVX512_BASE inline __m512 power_of_two(__m512 x) {
    // The maximum of a number and one that is none is the second of them.
    x = _mm512_max_ps(_mm512_set1_ps(-120.0f), x);
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

// Returns x · Φ(x), with Φ by Abramowitz and Stegun 7.1.26 (error below 1e-6).
AVX512_BASE inline __m512 gelu(__m512 x) {
    const __m512 one = _mm512_set1_ps(1.0f);
    const __m512 z = _mm512_mul_ps(_mm512_abs_ps(x), _mm512_set1_ps(static_cast<float>(M_SQRT1_2)));
    const __m512 t = _mm512_div_ps(one, _mm512_fmadd_ps(z, _mm512_set1_ps(0.3275911f), one));
    __m512 sum = _mm512_set1_ps(1.061405429f);
    sum = _mm512_fmadd_ps(sum, t, _mm512_set1_ps(-1.453152027f));
    sum = _mm512_fmadd_ps(sum, t, _mm512_set1_ps(1.421413741f));
    sum = _mm512_fmadd_ps(sum, t, _mm512_set1_ps(-0.284496736f));
    sum = _mm512_fmadd_ps(sum, t, _mm512_set1_ps(0.254829592f));
    const __m512 power = power_of_two(_mm512_mul_ps(_mm512_mul_ps(z, z), _mm512_set1_ps(static_cast<float>(-M_LOG2E))));
    // half of 1 - erf(z)
    const __m512 tail = _mm512_mul_ps(_mm512_mul_ps(_mm512_mul_ps(sum, t), power), _mm512_set1_ps(0.5f));
    const __mmask16 negative = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
    return _mm512_mul_ps(x, _mm512_mask_blend_ps(negative, _mm512_sub_ps(one, tail), tail));
}

}  // namespace transcribe
