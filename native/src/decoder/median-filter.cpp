#include "median-filter.h"

#include "sixteen.h"

#include <ggml.h>

#include <algorithm>
#include <cstring>

namespace transcribe {

namespace {

// Returns the median of an odd number of values, which are sorted up to it.
inline __attribute__((always_inline)) SixteenFloats median(SixteenFloats * numbers, int count) {
    for (int i = 0; i <= count / 2; ++i) {
        for (int j = count - 1; j > i; --j) {
            const SixteenFloats one = numbers[j - 1];
            const SixteenFloats other = numbers[j];
            numbers[j - 1] = one < other ? one : other;
            numbers[j] = one < other ? other : one;
        }
    }
    return numbers[count / 2];
}

}  // namespace

FOR_EACH_CPU
void filter_medians(ggml_tensor * output, const ggml_tensor * input, int thread, int, void * width) {
    if (thread != 0) {
        return;
    }
    const int filter_width = *static_cast<const int *>(width);
    GGML_ASSERT(filter_width < input->ne[2] && filter_width % 2 == 1 && filter_width <= most_filter_width);
    GGML_ASSERT(ggml_n_dims(input) == 3 && input->type == GGML_TYPE_F32 && input->nb[1] == sizeof(float));
    for (int64_t i = 0; i < input->ne[0]; ++i) {
        for (int64_t j = 0; j < input->ne[1]; j += 16) {
            const int64_t count = std::min<int64_t>(16, input->ne[1] - j);
            for (int64_t k = 0; k < input->ne[2]; ++k) {
                SixteenFloats numbers[most_filter_width] = {};
                for (int at = 0; at < filter_width; ++at) {
                    // Positions outside are reflected.
                    int64_t position = k + at - filter_width / 2;
                    if (position < 0) {
                        position = -position;
                    } else if (position >= input->ne[2]) {
                        position = 2 * (input->ne[2] - 1) - position;
                    }
                    memcpy(&numbers[at], static_cast<const char *>(input->data) + i * input->nb[0] + j * input->nb[1] + position * input->nb[2],
                           count * sizeof(float));
                }
                const SixteenFloats medians = median(numbers, filter_width);
                for (int64_t l = 0; l < count; ++l) {
                    char * to = static_cast<char *>(output->data) + i * output->nb[0] + (j + l) * output->nb[1] + k * output->nb[2];
                    *reinterpret_cast<float *>(to) = medians[l];
                }
            }
        }
    }
}

}  // namespace transcribe
