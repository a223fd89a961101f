#pragma once

#include "kernels/aligned.h"
#include "kernels/layer-steps.h"
#include "subsampling.h"

#include <parakeet.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace transcribe {

// How an encoder multiplies.
enum class ProductKind { bytes, bfloat16 };

// A set of them.
struct ProductKinds {
    bool bytes = false;
    bool bfloat16 = false;
};

// The weights of a Parakeet model's encoder (FastConformer). They point into the context, which must outlive them.
struct ConformerWeights {
    struct FeedForward {
        Norm norm;
        const ggml_tensor * first;
        const ggml_tensor * second;
    };
    struct Layer {
        FeedForward feed_forward[2];
        Norm attention_norm;
        const ggml_tensor * projections[3]; // of queries, keys and values
        const ggml_tensor * positions;
        const ggml_tensor * attention_output;
        const float * key_bias;
        const float * position_bias;
        Norm convolution_norm;
        const ggml_tensor * gated;    // [2 · width][width]: values, then gates
        Buffer<float> depthwise;      // [kernel][width]; includes the batch normalization
        Buffer<float> depthwise_bias; // of the batch normalization
        const ggml_tensor * convolution_output;
        Norm output_norm;
    };

    // Returns the weights, or nothing if their shapes, their form or their place in memory do not fit one of the kinds. Packs
    // the matrices for products in bfloat16.
    static std::unique_ptr<ConformerWeights> read(parakeet_context * context, ProductKinds kinds);

    ProductKind kind;
    size_t width;
    size_t heads;
    size_t mels;
    size_t kernel;
    std::unique_ptr<Subsampling> subsampling;
    const ggml_tensor * input;
    const float * input_bias;
    std::vector<Layer> layers;
};

}  // namespace transcribe
