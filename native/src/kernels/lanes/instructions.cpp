#include "instructions.h"

#include <ggml-backend.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace transcribe {

namespace {

#if defined(__x86_64__)

Instructions of_cpu() {
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
    if (!avx2) {
        return Instructions::none;
    }
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vnni");
    if (avx512) {
        return __builtin_cpu_supports("avx512bf16") ? Instructions::bfloat16 : Instructions::avx512;
    }
    return __builtin_cpu_supports("avxvnni") ? Instructions::avx_vnni : Instructions::avx2;
}

#else

Instructions of_cpu() {
    return Instructions::none;
}

#endif

// Returns the kind that the CPU variant of ggml was compiled for.
Instructions of_variant(ggml_backend_dev_t device) {
    ggml_backend_reg_t variant = ggml_backend_dev_backend_reg(device);
    const auto features = reinterpret_cast<ggml_backend_get_features_t>(
        ggml_backend_reg_get_proc_address(variant, "ggml_backend_get_features"));
    if (features == nullptr) {
        return Instructions::none;
    }
    constexpr struct {
        const char * feature;
        Instructions kind;
    } kinds[] = {{"AVX2", Instructions::avx2},
                 {"AVX_VNNI", Instructions::avx_vnni},
                 {"AVX512_VNNI", Instructions::avx512},
                 {"AVX512_BF16", Instructions::bfloat16}};
    Instructions best = Instructions::none;
    for (const ggml_backend_feature * each = features(variant); each->name != nullptr; each++) {
        for (const auto & [feature, kind] : kinds) {
            if (std::strcmp(each->name, feature) == 0 && std::strcmp(each->value, "1") == 0) {
                best = std::max(best, kind);
            }
        }
    }
    return best;
}

}  // namespace

Instructions instructions() {
    static std::atomic<Instructions> known{Instructions::none};
    if (known == Instructions::none) {
        if (ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU)) {
            known = std::min(of_cpu(), of_variant(device));
        }
    }
    return known;
}

const char * name_of(Instructions kind) {
    switch (kind) {
    case Instructions::none: return "none";
    case Instructions::avx2: return "AVX2";
    case Instructions::avx_vnni: return "AVX-VNNI";
    case Instructions::avx512: return "AVX-512 VNNI";
    case Instructions::bfloat16: return "AVX-512 VNNI and BF16";
    }
    return "none";
}

}  // namespace transcribe
