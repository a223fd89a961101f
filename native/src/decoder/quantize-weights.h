#pragma once

#include <cstdint>

namespace transcribe {

// Quantizes a row of numbers in 16 bits to ggml's Q8_0, as ggml_quantize_chunk does except for numbers halfway between two. A
// model's weights are quantized when it is loaded: of base in 45 ms instead of 210.
void quantize_weights(const uint16_t * row, int count, void * quantized);

}  // namespace transcribe
