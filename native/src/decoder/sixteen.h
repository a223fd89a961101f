#pragma once

#include <cstdint>

namespace transcribe {

// Sixteen numbers in the registers of any CPU; aligned as memory is allocated.
typedef float SixteenFloats __attribute__((vector_size(64), aligned(16)));
typedef int32_t SixteenInts __attribute__((vector_size(64), aligned(16)));

// Compiles a function for several kinds of CPU. The fastest that fits is chosen when the library is loaded.
#if defined(__x86_64__)
#define FOR_EACH_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_CPU
#endif

}  // namespace transcribe
