#include "relative-attention.h"

#if defined(__x86_64__)

#include <algorithm>
#include <cmath>

namespace transcribe {

namespace {

// Queries whose scores are computed at once.
constexpr size_t queries_at_once = 6;
// Largest number of keys or positions whose scores are computed at once.
constexpr size_t most_keys_at_once = 64;

constexpr size_t whole(size_t count, size_t unit) {
    return (count + unit - 1) / unit * unit;
}

// Returns the largest number of positions that these queries need, from a multiple of `turned_vectors` on.
constexpr size_t most_distances(size_t count) {
    return count + queries_at_once - 1 + turned_vectors - 1;
}

}  // namespace

}  // namespace transcribe

#define KERNELS "parakeet/relative-attention-kernels.h"
#include "kernels/lanes/for-each.h"

namespace transcribe {

TurnedVectors::TurnedVectors(size_t count, size_t width)
    : width_(width), data_(buffer<float>(whole(count, turned_vectors) * width)) {
    std::fill(data_.get(), data_.get() + whole(count, turned_vectors) * width, 0.0f);
}

size_t padded_keys(size_t count) {
    return whole(count, most_keys_at_once);
}

size_t padded_positions(size_t most) {
    return 2 * most + 16 + most_keys_at_once + turned_vectors;
}

Buffer<float> attention_scratch(size_t count, size_t head_width) {
    const size_t distances = whole(most_distances(count), most_keys_at_once);
    return buffer<float>(queries_at_once * (2 * head_width + padded_keys(count) + distances + turned_vectors));
}

void attend(const RelativeAttention & attention, size_t head, size_t group, float * scratch, float * output) {
    const size_t end = std::min(attention.count, (group + 1) * group_queries);
    for (size_t row = group * group_queries; row < end; row += queries_at_once) {
        CALL_KERNEL(attend_rows, attention, head, row, scratch, output);
    }
}

}  // namespace transcribe

#endif
