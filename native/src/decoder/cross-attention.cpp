#include "cross-attention.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace transcribe {

namespace {

using Quad __attribute__((may_alias)) = int32_t;
using WordPair __attribute__((may_alias)) = int32_t;
using Pair __attribute__((may_alias)) = int16_t;

// Sixteen channels of four positions.
struct Four {
    Four(const int8_t * from, size_t width)
        : first(row(from)), second(row(from + width)), third(row(from + 2 * width)), fourth(row(from + 3 * width)) {}
    static __m128i row(const int8_t * from) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)); }

    const __m128i first, second, third, fourth;
};

}  // namespace

}  // namespace transcribe

#define KERNELS "decoder/cross-attention-kernels.h"
#include "kernels/lanes/for-each.h"

namespace transcribe {

CrossAttention::CrossAttention(size_t layers, size_t heads) : heads_(heads), all_(buffer<Head>(layers * heads)) {}

bool CrossAttention::is_supported() {
    return instructions() != Instructions::none;
}

void CrossAttention::pack(size_t layer, const uint16_t * keys, const uint16_t * values, size_t positions, size_t padding) {
    positions_ = positions;
    padding_ = padding;
    const Buffer<int8_t> numbers = buffer<int8_t>(most_positions * head_width);
    for (size_t head = 0; head < heads_; head++) {
        CALL_KERNEL(pack_head, all_[layer * heads_ + head], keys + head * head_width, values + head * head_width,
                    heads_ * head_width, positions, numbers.get());
    }
}

void CrossAttention::attend(size_t layer, size_t head, const float * queries, size_t query_stride, size_t count, float scale,
                            float * output, size_t output_stride) const {
    CALL_KERNEL(attend, all_[layer * heads_ + head], positions_, padding_, queries, query_stride, count, scale, output,
                output_stride);
}

}  // namespace transcribe

#else

namespace transcribe {

CrossAttention::CrossAttention(size_t, size_t heads) : heads_(heads) {}

bool CrossAttention::is_supported() {
    return false;
}

void CrossAttention::pack(size_t, const uint16_t *, const uint16_t *, size_t, size_t) {}

void CrossAttention::attend(size_t, size_t, const float *, size_t, size_t, float, float *, size_t) const {}

}  // namespace transcribe

#endif
