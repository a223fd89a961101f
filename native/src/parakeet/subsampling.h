#pragma once

#include "kernels/aligned.h"

#include <cstddef>

namespace transcribe {

// The convolutions before the encoder's layers, which keep an eighth of the frames and of the mels: a convolution and twice a
// depthwise one with a pointwise one, in 32-bit floats. All functions need one of the kinds of instructions.
class Subsampling {
public:
    // Weights and biases as in the model file. `channels` is a multiple of 16.
    struct Weights {
        const float * convolution; // [channels][3][3]
        const float * convolution_bias;
        const float * depthwise[2]; // [channels][3][3]
        const float * depthwise_bias[2];
        const float * pointwise[2]; // [channels][channels]
        const float * pointwise_bias[2];
    };

    Subsampling(const Weights & weights, size_t channels, size_t mels);

    // Frames that are computed at once.
    static constexpr size_t chunk_frames = 4;

    // Returns the number of frames that remain.
    static size_t frames_of(size_t spectrum_frames) { return half(half(half(spectrum_frames))); }
    // Returns the width of a frame's output.
    size_t width() const { return mels_ / 8 * channels_; }

    // Memory for `compute`, one for each thread.
    Buffer<float> scratch() const;
    // Computes frames [first, first + count), at most a chunk: `output` is [count][channel][mel], `spectrum` [frame][mel].
    void compute(const float * spectrum, size_t spectrum_frames, size_t first, size_t count, float * scratch,
                 float * output) const;

private:
    struct Pair {
        Buffer<float> depthwise; // [3][3][channels]
        Buffer<float> depthwise_bias;
        Buffer<float> pointwise; // [inputs][outputs]
        Buffer<float> pointwise_bias;
    };

    static size_t half(size_t count) { return (count + 1) / 2; }

    size_t channels_;
    size_t mels_;
    Buffer<float> convolution_; // [3][3][channels]
    Buffer<float> convolution_bias_;
    Pair pairs_[2];
};

}  // namespace transcribe
