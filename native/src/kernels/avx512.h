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
    // NaN as the second operand stays NaN. In kernels/lanes/avx512.h it becomes 2^-120, since integers can't hold it.
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

}  // namespace transcribe
