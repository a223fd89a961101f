#pragma once

#include "kernels/aligned.h"
#include "kernels/layer-steps.h"
#include "kernels/quantized.h"
#include "padding.h"

#include <cstddef>

namespace transcribe {

// The two parts of a layer of Whisper's encoder, with products in 8 bits. Both add to the residual stream, [count][width]. All
// functions need one of the kinds of instructions; widths are multiples of 128.

// The weights of a product, [outputs / 32][inputs / 128], and a bias for each output.
struct Product {
    const WidePanelBlock * panels;
    const float * bias;
    size_t inputs;
    size_t outputs;
};

// Attention. `projections` are those of queries, keys and values.
struct AttentionLayer {
    Norm norm;
    Product projections;
    Product output;
    void add_to(float * stream, size_t count, size_t threads) const;
    // The same for the kept positions alone, which attend to all of the stream.
    void add_to_kept(const float * stream, const KeptPositions & kept, float * output, size_t threads) const;

private:
    // Computes one of the products of the normalized stream.
    Buffer<float> project(const float * stream, size_t count, const Product & product, size_t threads) const;
    void add_output(const float * attended, size_t count, float * stream, size_t threads) const;
};

// Two products with GELU between them.
struct FeedForwardLayer {
    Norm norm;
    Product first;
    Product second;
    void add_to(float * stream, size_t count, size_t threads) const;
};

}  // namespace transcribe
