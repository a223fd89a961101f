#pragma once

#include "conformer-positions.h"
#include "conformer-weights.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

namespace transcribe {

// Our own encoder of a Parakeet model. Products are computed in 8 bits with the numbers of a quantized model, on CPUs with AVX2,
// or in bfloat16 with those of a model in floats, on CPUs with AVX-512 and BF16. Everything else is computed in 32-bit floats.
// Any number of threads may encode at the same time.
class Conformer {
public:
    // Returns the kinds of product for which this CPU and the CPU variant in use have the instructions: a variant that failed
    // its self-test is not used.
    static ProductKinds supported();

    // Returns the encoder of a model; null if the model's form does not fit. The context must outlive it. With bfloat16 the
    // context's matrices are packed, and parakeet.cpp's own encoder must no longer be used.
    static std::shared_ptr<const Conformer> create(parakeet_context * context, ProductKinds kinds);

    explicit Conformer(std::unique_ptr<ConformerWeights> weights);

    // Encodes a window: `spectrum` is [frames][mels], `output` [frames / 8, rounded up][width]. Returns false if
    // `should_stop` returned true. Throws if memory is short.
    bool encode(const float * spectrum, size_t frames, size_t threads, const std::function<bool()> & should_stop,
                float * output) const;

private:
    // Returns projections for windows of `count` frames: computed once, for the longest. Null if `should_stop` returned true.
    std::shared_ptr<const ConformerPositions> positions(size_t count, size_t threads,
                                                        const std::function<bool()> & should_stop) const;

    const std::unique_ptr<ConformerWeights> weights_;
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const ConformerPositions> positions_;
};

}  // namespace transcribe
