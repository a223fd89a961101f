#pragma once

struct ggml_tensor;

namespace transcribe {

// Largest width of a filter.
constexpr int most_filter_width = 7;

// Computes medians along the third dimension of [heads][tokens][positions], of which the last but one is contiguous. For
// ggml_map_custom1; `width`: an int, the filter's width, which is odd and less than the number of positions
void filter_medians(ggml_tensor * output, const ggml_tensor * input, int thread, int threads, void * width);

}  // namespace transcribe
