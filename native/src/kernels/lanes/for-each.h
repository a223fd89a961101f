// Compiles the file KERNELS once for each kind of instructions, in a namespace of the kind's name, with
//
// - `Floats` and `Ints`: sixteen numbers, and functions for them;
// - `add_byte_products` and `add_word_products`: products of integers in one register, some of them in assembly, because the
//   compiler would keep sums in memory;
// - `levels`, `wide_levels` and `signed_limit`: the sizes of numbers with which products of bytes are exact;
// - HAS_AVX512: 1 if a register has sixteen numbers, otherwise eight.
//
// There is no include guard: each file of kernels includes this once.

#include "instructions.h"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#if !defined(TRANSCRIBE_LANES)
#define TRANSCRIBE_LANES
#define INLINE inline __attribute__((always_inline))
#endif

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#define HAS_AVX512 0
namespace transcribe::avx2 {
#include "avx2.h"

// Two products are added in 16 bits, which hold 2 · 127 · 128 and 2 · 255 · 64: `levels` is for weights of 8 bits, and
// `wide_levels` for the encoder's, which have 7 bits.
constexpr int levels = 127;
constexpr int wide_levels = 255;
// The largest signed byte whose products with unsigned ones are exact.
constexpr int signed_limit = 64;

// Adds the products of four unsigned bytes of each lane with four signed ones. Pairs of products are added in 16 bits.
INLINE void add_byte_products(__m256i & sums, __m256i unsigned_bytes, const void * signed_bytes) {
    __m256i pairs;
    asm("vpmaddubsw %[factors], %[bytes], %[pairs]\n\tvpmaddwd %[ones], %[pairs], %[pairs]\n\tvpaddd %[pairs], %[sums], %[sums]"
        : [sums] "+x"(sums), [pairs] "=&x"(pairs)
        : [bytes] "x"(unsigned_bytes), [factors] "m"(*static_cast<const __m256i *>(signed_bytes)),
          [ones] "x"(_mm256_set1_epi16(1)));
}

INLINE void add_byte_products(__m256i & sums, __m256i unsigned_bytes, __m256i signed_bytes) {
    const __m256i pairs = _mm256_maddubs_epi16(unsigned_bytes, signed_bytes);
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

// Adds the products of two numbers of 16 bits of each lane.
INLINE void add_word_products(__m256i & sums, __m256i words, const void * others) {
    __m256i products;
    asm("vpmaddwd %[factors], %[words], %[products]\n\tvpaddd %[products], %[sums], %[sums]"
        : [sums] "+x"(sums), [products] "=&x"(products)
        : [words] "x"(words), [factors] "m"(*static_cast<const __m256i *>(others)));
}

INLINE void add_word_products(__m256i & sums, __m256i words, __m256i others) {
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(words, others));
}

#include KERNELS
}  // namespace transcribe::avx2
#pragma GCC pop_options

// A test compiles the kernels of AVX-VNNI with the encoding that AVX-512 VNNI has for the same instructions, to run them on
// CPUs without AVX-VNNI.
#pragma GCC push_options
#if defined(TRANSCRIBE_AVX_VNNI_AS_EVEX)
#pragma GCC target("avx2,fma,f16c")
#define VNNI_ENCODING "%{evex%} "
#else
#pragma GCC target("avx2,fma,f16c,avxvnni")
#define VNNI_ENCODING "%{vex%} "
#endif
namespace transcribe::avx_vnni {
#include "avx2.h"

constexpr int levels = 255;
constexpr int wide_levels = 255;
constexpr int signed_limit = 127;

INLINE void add_byte_products(__m256i & sums, __m256i unsigned_bytes, const void * signed_bytes) {
    asm(VNNI_ENCODING "vpdpbusd %[factors], %[bytes], %[sums]"
        : [sums] "+x"(sums)
        : [bytes] "x"(unsigned_bytes), [factors] "m"(*static_cast<const __m256i *>(signed_bytes)));
}

INLINE void add_byte_products(__m256i & sums, __m256i unsigned_bytes, __m256i signed_bytes) {
    asm(VNNI_ENCODING "vpdpbusd %[factors], %[bytes], %[sums]" : [sums] "+x"(sums) : [bytes] "x"(unsigned_bytes), [factors] "x"(signed_bytes));
}

INLINE void add_word_products(__m256i & sums, __m256i words, const void * others) {
    asm(VNNI_ENCODING "vpdpwssd %[factors], %[words], %[sums]"
        : [sums] "+x"(sums)
        : [words] "x"(words), [factors] "m"(*static_cast<const __m256i *>(others)));
}

INLINE void add_word_products(__m256i & sums, __m256i words, __m256i others) {
    asm(VNNI_ENCODING "vpdpwssd %[factors], %[words], %[sums]" : [sums] "+x"(sums) : [words] "x"(words), [factors] "x"(others));
}

#include KERNELS
}  // namespace transcribe::avx_vnni
#undef VNNI_ENCODING
#undef HAS_AVX512
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma,f16c")
#define HAS_AVX512 1
namespace transcribe::avx512 {
#include "avx512.h"

constexpr int signed_limit = 127;

INLINE void add_byte_products(__m512i & sums, __m512i unsigned_bytes, const void * signed_bytes) {
    asm("vpdpbusd %[factors], %[bytes], %[sums]"
        : [sums] "+v"(sums)
        : [bytes] "v"(unsigned_bytes), [factors] "m"(*static_cast<const __m512i *>(signed_bytes)));
}

INLINE void add_word_products(__m512i & sums, __m512i words, const void * others) {
    asm("vpdpwssd %[factors], %[words], %[sums]"
        : [sums] "+v"(sums)
        : [words] "v"(words), [factors] "m"(*static_cast<const __m512i *>(others)));
}

#include KERNELS
}  // namespace transcribe::avx512
#undef HAS_AVX512
#pragma GCC pop_options

#undef KERNELS

namespace transcribe {

// Calls a function of a kind. Its namespaces have the same declarations.
#define CALL_KERNEL(function, ...)                                                  \
    (instructions() >= Instructions::avx512     ? avx512::function(__VA_ARGS__)     \
     : instructions() == Instructions::avx_vnni ? avx_vnni::function(__VA_ARGS__)   \
                                                : avx2::function(__VA_ARGS__))

}  // namespace transcribe
