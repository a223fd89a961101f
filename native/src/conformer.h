#pragma once

#include "conformer-weights.h"
#include "relative-attention.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace transcribe {

// Our own encoder of a Parakeet model, for CPUs with AVX-512 and VNNI. Products are computed in 8 bits with the numbers of
// the model's weights, everything else in 32-bit floats. Any number of threads may encode at the same time.
class Conformer {
public:
    // Reports whether this CPU and the CPU variant in use have the instructions: a variant that failed its self-test is not
    // used.
    static bool is_supported();

    // Returns the encoder of a model; null if the model's form does not fit. The context must outlive it.
    static std::shared_ptr<const Conformer> create(parakeet_context * context);

    explicit Conformer(std::unique_ptr<ConformerWeights> weights);
    ~Conformer();

    // Encodes a window: `spectrum` is [frames][mels], `output` [frames / 8, rounded up][width]. Returns false if
    // `should_stop` returned true. Throws if memory is short.
    bool encode(const float * spectrum, size_t frames, size_t threads, const std::function<bool()> & should_stop,
                float * output) const;

private:
    class Run;

    // The layers' projections of the distances from `most` - 1 to 1 - `most`.
    struct Positions {
        size_t most;
        std::vector<TurnedVectors> layers;
    };

    // Returns projections for windows of `count` frames. They are the same for all windows: computed once, for the longest.
    // Null if `should_stop` returned true.
    std::shared_ptr<const Positions> positions(size_t count, size_t threads, const std::function<bool()> & should_stop) const;

    const std::unique_ptr<ConformerWeights> weights_;
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const Positions> positions_;
};

}  // namespace transcribe
