#include "conformer.h"

#include <utility>

namespace transcribe {

Conformer::Conformer(std::unique_ptr<ConformerWeights> weights) : weights_(std::move(weights)) {}

}  // namespace transcribe

#if defined(__x86_64__)

#include "conformer-run.h"
#include "kernels/lanes/instructions.h"

#include <algorithm>

namespace transcribe {

namespace {

// Frames of a window of 20 s, the longest that is used.
constexpr size_t usual_frames = 250;

template <typename Products>
bool run(const ConformerWeights & weights, const ConformerPositions & positions, const float * spectrum, size_t frames,
         size_t threads, const std::function<bool()> & should_stop, float * output) {
    ConformerRun<Products> run(weights, positions, spectrum, frames, threads, output);
    Team team(should_stop);
    team.run(threads, [&](size_t member) { run.work(team, member); });
    return run.is_complete();
}

}  // namespace

ProductKinds Conformer::supported() {
    return {instructions() != Instructions::none, instructions() == Instructions::bfloat16};
}

std::shared_ptr<const Conformer> Conformer::create(parakeet_context * context, ProductKinds kinds) {
    auto weights = ConformerWeights::read(context, kinds);
    return weights == nullptr ? nullptr : std::make_shared<const Conformer>(std::move(weights));
}

bool Conformer::encode(const float * spectrum, size_t frames, size_t threads, const std::function<bool()> & should_stop,
                       float * output) const {
    const auto distances = positions(Subsampling::frames_of(frames), threads, should_stop);
    if (distances == nullptr) {
        return false;
    }
    return weights_->kind == ProductKind::bfloat16
               ? run<Bfloat16Products>(*weights_, *distances, spectrum, frames, threads, should_stop, output)
               : run<ByteProducts>(*weights_, *distances, spectrum, frames, threads, should_stop, output);
}

std::shared_ptr<const ConformerPositions> Conformer::positions(size_t count, size_t threads,
                                                               const std::function<bool()> & should_stop) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (positions_ == nullptr || positions_->most < count) {
        auto made = project_positions(*weights_, std::max(count, usual_frames), threads, should_stop);
        if (made == nullptr) {
            return nullptr;
        }
        positions_ = std::move(made);
    }
    return positions_;
}

}  // namespace transcribe

#else

namespace transcribe {

ProductKinds Conformer::supported() {
    return {};
}

std::shared_ptr<const Conformer> Conformer::create(parakeet_context *, ProductKinds) {
    return nullptr;
}

bool Conformer::encode(const float *, size_t, size_t, const std::function<bool()> &, float *) const {
    return false;
}

}  // namespace transcribe

#endif
