#include "subsampling.h"

#if defined(__x86_64__)

#include <algorithm>

namespace transcribe {

namespace {

constexpr size_t kernel = 9;

// A span of rows of [mel][channel] or, for the spectrum, of [mel].
struct Span {
    const float * data;
    long first;    // number of the first row in the whole input
    size_t frames; // number of rows in the whole input; all others are zero
    size_t mels;
    size_t width; // numbers of a mel

    // Returns the row, or null outside the input.
    const float * row(long number) const {
        return number < 0 || number >= static_cast<long>(frames) ? nullptr
                                                                 : data + static_cast<size_t>(number - first) * mels * width;
    }
};

}  // namespace

}  // namespace transcribe

#define KERNELS "parakeet/subsampling-kernels.h"
#include "kernels/lanes/for-each.h"

namespace transcribe {

namespace {

// Computes an output row of a convolution of 3 by 3 with stride 2 and zeros around. All channels have the same input.
void convolve_spectrum(const Span & input, long row, const float * weights, const float * bias, size_t channels, float * output) {
    CALL_KERNEL(convolve_spectrum, input, row, weights, bias, channels, output);
}

// The same, but each channel has its own input.
void convolve_channels(const Span & input, long row, const float * weights, const float * bias, size_t channels, float * output) {
    CALL_KERNEL(convolve_channels, input, row, weights, bias, channels, output);
}

// Computes max(0, input · weights + bias) for all positions, [count][channels].
void convolve_points(const float * input, size_t count, const float * weights, const float * bias, size_t channels,
                     float * output) {
    CALL_KERNEL(convolve_points, input, count, weights, bias, channels, output);
}

Buffer<float> transposed(const float * matrix, size_t count, size_t width) {
    auto result = buffer<float>(count * width);
    for (size_t row = 0; row < count; row++) {
        for (size_t column = 0; column < width; column++) {
            result[column * count + row] = matrix[row * width + column];
        }
    }
    return result;
}

Buffer<float> copied(const float * numbers, size_t count) {
    auto result = buffer<float>(count);
    std::copy(numbers, numbers + count, result.get());
    return result;
}

// Rows of each stage that a chunk needs.
constexpr size_t rows_of_third = Subsampling::chunk_frames;
constexpr size_t rows_of_second = 2 * rows_of_third + 1;
constexpr size_t rows_of_first = 2 * rows_of_second + 1;

}  // namespace

Subsampling::Subsampling(const Weights & weights, size_t channels, size_t mels)
    : channels_(channels), mels_(mels), convolution_(transposed(weights.convolution, channels, kernel)),
      convolution_bias_(copied(weights.convolution_bias, channels)) {
    for (size_t i = 0; i < 2; i++) {
        pairs_[i] = {transposed(weights.depthwise[i], channels, kernel), copied(weights.depthwise_bias[i], channels),
                     transposed(weights.pointwise[i], channels, channels), copied(weights.pointwise_bias[i], channels)};
    }
}

// The first stage's rows, then those of the two steps of the second stage, which the third one uses again.
Buffer<float> Subsampling::scratch() const {
    return buffer<float>((rows_of_first * half(mels_) + 2 * rows_of_second * half(half(mels_))) * channels_);
}

void Subsampling::compute(const float * spectrum, size_t spectrum_frames, size_t first, size_t count, float * scratch,
                          float * output) const {
    const size_t frames[] = {spectrum_frames, half(spectrum_frames), half(half(spectrum_frames))};
    const size_t mels[] = {mels_, half(mels_), half(half(mels_)), half(half(half(mels_)))};
    float * const stages[] = {scratch, scratch + rows_of_first * mels[1] * channels_,
                              scratch + (rows_of_first * mels[1] + rows_of_second * mels[2]) * channels_};

    // The first stage's rows, from the one before four times the first frame's number on.
    const long start = 4 * static_cast<long>(first) - 3;
    const Span whole{spectrum, 0, frames[0], mels[0], 1};
    for (size_t i = 0; i < 4 * count + 3; i++) {
        const long row = start + static_cast<long>(i);
        if (row >= 0 && row < static_cast<long>(frames[1])) {
            convolve_spectrum(whole, row, convolution_.get(), convolution_bias_.get(), channels_,
                              stages[0] + i * mels[1] * channels_);
        }
    }
    const long middle = 2 * static_cast<long>(first) - 1;
    const Span one{stages[0], start, frames[1], mels[1], channels_};
    for (size_t i = 0; i < 2 * count + 1; i++) {
        const long row = middle + static_cast<long>(i);
        float * depthwise = stages[1] + i * mels[2] * channels_;
        if (row >= 0 && row < static_cast<long>(frames[2])) {
            convolve_channels(one, row, pairs_[0].depthwise.get(), pairs_[0].depthwise_bias.get(), channels_, depthwise);
        } else {
            std::fill(depthwise, depthwise + mels[2] * channels_, 0.0f);
        }
    }
    convolve_points(stages[1], (2 * count + 1) * mels[2], pairs_[0].pointwise.get(), pairs_[0].pointwise_bias.get(), channels_,
                    stages[2]);
    const Span two{stages[2], middle, frames[2], mels[2], channels_};
    for (size_t i = 0; i < count; i++) {
        convolve_channels(two, static_cast<long>(first + i), pairs_[1].depthwise.get(), pairs_[1].depthwise_bias.get(),
                          channels_, stages[0] + i * mels[3] * channels_);
    }
    convolve_points(stages[0], count * mels[3], pairs_[1].pointwise.get(), pairs_[1].pointwise_bias.get(), channels_, stages[1]);
    for (size_t i = 0; i < count; i++) {
        for (size_t mel = 0; mel < mels[3]; mel++) {
            for (size_t channel = 0; channel < channels_; channel++) {
                output[(i * channels_ + channel) * mels[3] + mel] = stages[1][(i * mels[3] + mel) * channels_ + channel];
            }
        }
    }
}

}  // namespace transcribe

#endif
