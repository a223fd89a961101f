#pragma once

namespace transcribe {

// The kinds of instructions that our kernels are written for, the slowest first.
enum class Instructions {
    none,
    avx2,     // AVX2, FMA and F16C
    avx_vnni, // AVX2 with VNNI in 256 bits
    avx512,   // AVX-512 with VNNI
    bfloat16, // AVX-512 with VNNI and BF16
};

// Returns the fastest kind that both this CPU and the loaded CPU variant of ggml have: whoever chooses a slower variant, such as
// the self-test, chooses our kernels with it. Returns `none` before a variant is loaded.
Instructions instructions();

// Returns the name of a kind for people.
const char * name_of(Instructions kind);

}  // namespace transcribe
