#include "conformer-positions.h"

#if defined(__x86_64__)

#include "conformer-products.h"
#include "conformer-steps.h"
#include "team.h"

#include <atomic>
#include <cmath>
#include <utility>

namespace transcribe {

namespace {

// Returns the sine and cosine of each distance with falling frequencies.
template <typename Products> typename Products::Rows waves(size_t most, size_t width) {
    const size_t vectors = padded_positions(most);
    typename Products::Rows rows(vectors, width);
    std::vector<float> row(width);
    for (size_t i = 0; i < vectors; i++) {
        const float distance = static_cast<float>(most) + 15 - static_cast<float>(i);
        for (size_t pair = 0; pair < width / 2; pair++) {
            const float fall = static_cast<float>(2 * pair) * std::log(10000.0f) / static_cast<float>(width);
            const float angle = distance * std::exp(-fall);
            row[2 * pair] = std::sin(angle);
            row[2 * pair + 1] = std::cos(angle);
        }
        Products::store(row.data(), width, rows, i);
    }
    return rows;
}

template <typename Products>
std::shared_ptr<const ConformerPositions> project(const ConformerWeights & weights, size_t most, size_t threads,
                                                  const std::function<bool()> & should_stop) {
    const size_t width = weights.width;
    const size_t vectors = padded_positions(most);
    const auto made = std::make_shared<ConformerPositions>();
    made->most = most;
    for (size_t layer = 0; layer < weights.layers.size(); layer++) {
        made->layers.emplace_back(vectors, width);
    }
    const auto rows = waves<Products>(most, width);
    std::vector<Buffer<typename Products::Scratch>> scratch;
    for (size_t i = 0; i < threads; i++) {
        scratch.push_back(buffer<typename Products::Scratch>(Products::scratch_of(width)));
    }
    const size_t parts = width / panel_outputs;
    std::atomic<bool> is_complete{false};
    Team team(should_stop);
    team.run(threads, [&](size_t member) {
        is_complete = team.each(parts * made->layers.size(), [&](size_t index) {
            const size_t layer = index / parts;
            multiply<Products>(rows, vectors, weights.layers[layer].positions, scratch[member].get(),
                               Turn{made->layers[layer], index % parts * panel_outputs});
        });
    });
    return is_complete ? made : nullptr;
}

}  // namespace

std::shared_ptr<const ConformerPositions> project_positions(const ConformerWeights & weights, size_t most, size_t threads,
                                                            const std::function<bool()> & should_stop) {
    return weights.kind == ProductKind::bfloat16 ? project<Bfloat16Products>(weights, most, threads, should_stop)
                                                 : project<ByteProducts>(weights, most, threads, should_stop);
}

}  // namespace transcribe

#endif
