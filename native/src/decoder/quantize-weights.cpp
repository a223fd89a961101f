#include "quantize-weights.h"

#include "sixteen.h"

#include <ggml.h>

#include <algorithm>
#include <cstring>

namespace transcribe {

namespace {

typedef uint16_t SixteenHalves __attribute__((vector_size(32), aligned(16)));
typedef int8_t SixteenBytes __attribute__((vector_size(16)));

// ggml's layout of GGML_TYPE_Q8_0: 32 numbers and their scale.
struct Block {
    ggml_fp16_t scale;
    int8_t numbers[32];
};

}  // namespace

FOR_EACH_CPU
void quantize_weights(const uint16_t * row, int count, void * quantized) {
    Block * block = static_cast<Block *>(quantized);
    for (int i = 0; i < count; i += 32, ++block) {
        SixteenFloats numbers[2];
        SixteenFloats largest = {};
        for (int j = 0; j < 2; ++j) {
            SixteenHalves halves;
            memcpy(&halves, row + i + 16 * j, sizeof(halves));
            const SixteenInts bits = __builtin_convertvector(halves, SixteenInts);
            // The exponent's offset is 15 instead of 127.
            const SixteenFloats size = (SixteenFloats)((bits & 0x7fff) << 13) * 0x1p112f;
            numbers[j] = (bits & 0x8000) != 0 ? -size : size;
            largest = size > largest ? size : largest;
        }
        float most = 0.0f;
        for (int j = 0; j < 16; ++j) {
            most = std::max(most, largest[j]);
        }
        const float scale = most / 127;
        block->scale = ggml_fp32_to_fp16(scale);
        for (int j = 0; j < 2; ++j) {
            // The added constant leaves an integer in the last bits.
            const SixteenFloats whole = numbers[j] * (scale != 0.0f ? 1.0f / scale : 0.0f) + 12582912.0f;
            const SixteenBytes bytes = __builtin_convertvector((SixteenInts)whole, SixteenBytes);
            memcpy(block->numbers + 16 * j, &bytes, sizeof(bytes));
        }
    }
}

}  // namespace transcribe
