#pragma once

#include "conformer-weights.h"
#include "relative-attention.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace transcribe {

// The layers' projections of the distances from `most` - 1 to 1 - `most`. They are the same for all windows.
struct ConformerPositions {
    size_t most;
    std::vector<TurnedVectors> layers;
};

// Computes the projections for windows of at most `most` frames. Returns null if `should_stop` returned true. Throws if memory
// is short.
std::shared_ptr<const ConformerPositions> project_positions(const ConformerWeights & weights, size_t most, size_t threads,
                                                            const std::function<bool()> & should_stop);

}  // namespace transcribe
