#include "conformer.h"

#if defined(__x86_64__)

#include "conformer-steps.h"
#include "quantized.h"
#include "team.h"

#include <ggml-backend.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

namespace transcribe {

namespace {

// Frames of a window of 20 s, the longest that is used.
constexpr size_t usual_frames = 250;
// Rows that a thread computes at once.
constexpr size_t group_rows = 8;
// Of both feed-forward modules.
constexpr float half = 0.5f;

size_t groups_of(size_t count, size_t size) {
    return (count + size - 1) / size;
}

// Multiplies rows with 32 outputs, or with 16 and 16 others.
template <typename Step>
void multiply(const QuantizedRows & rows, size_t count, const ggml_tensor * weights, size_t first, size_t second,
              PanelBlock * panel, const Step & step) {
    pack_panel(weights, first, second, panel);
    multiply_panel(rows, count, panel, static_cast<size_t>(weights->ne[0]) / block_width, Step::take, &step);
}

template <typename Step>
void multiply(const QuantizedRows & rows, size_t count, const ggml_tensor * weights, PanelBlock * panel, const Step & step) {
    multiply(rows, count, weights, step.column, step.column + panel_outputs / 2, panel, step);
}

}  // namespace

// The computation of one window.
class Conformer::Run {
public:
    Run(const ConformerWeights & weights, const Positions & positions, const float * spectrum, size_t spectrum_frames,
        size_t threads, float * output)
        : weights_(weights), positions_(positions), spectrum_(spectrum), spectrum_frames_(spectrum_frames),
          count_(Subsampling::frames_of(spectrum_frames)), width_(weights.width), stream_(output),
          narrow_(count_, width_), wide_(count_, std::max(4 * width_, weights.subsampling->width())),
          queries_(buffer<float>(count_ * width_)), values_(buffer<float>(count_ * width_)),
          mixed_(buffer<float>(count_ * width_)), keys_(padded_keys(count_), width_) {
        for (size_t i = 0; i < threads; i++) {
            scratch_.push_back({buffer<PanelBlock>(wide_.blocks()), weights.subsampling->scratch(),
                                attention_scratch(count_, width_ / weights.heads),
                                buffer<float>(Subsampling::chunk_frames * std::max(width_, weights.subsampling->width()))});
        }
    }

    // A member's part of the work.
    void work(Team & team, size_t member) {
        const Scratch & scratch = scratch_[member];
        if (!subsample(team, scratch)) {
            return;
        }
        for (size_t layer = 0; layer < weights_.layers.size(); layer++) {
            const ConformerWeights::Layer & weights = weights_.layers[layer];
            if (!feed_forward(team, scratch, weights.feed_forward[0]) ||
                !attend(team, scratch, weights, positions_.layers[layer]) || !convolve(team, scratch, weights) ||
                !feed_forward(team, scratch, weights.feed_forward[1])) {
                return;
            }
            const bool continues = by_rows(team, [&](size_t row) {
                normalize(stream_ + row * width_, weights.output_norm, width_, stream_ + row * width_);
            });
            if (!continues) {
                return;
            }
        }
        is_complete_ = true;
    }

    bool is_complete() const { return is_complete_; }

private:
    struct Scratch {
        Buffer<PanelBlock> panel;
        Buffer<float> subsampling;
        Buffer<float> attention;
        Buffer<float> rows;
    };

    template <typename Work> bool by_rows(Team & team, const Work & work) {
        return team.each(groups_of(count_, group_rows), [&](size_t group) {
            for (size_t row = group * group_rows; row < std::min(count_, (group + 1) * group_rows); row++) {
                work(row);
            }
        });
    }

    bool normalize_stream(Team & team, const Scratch & scratch, const ConformerWeights::Norm & norm) {
        return by_rows(team, [&](size_t row) {
            normalize(stream_ + row * width_, norm, width_, scratch.rows.get());
            quantize(scratch.rows.get(), width_, narrow_, row);
        });
    }

    bool add_product(Team & team, const Scratch & scratch, const QuantizedRows & rows, const ggml_tensor * weights, float factor) {
        return team.each(width_ / panel_outputs, [&](size_t panel) {
            multiply(rows, count_, weights, scratch.panel.get(), AddTo{stream_, width_, factor, panel * panel_outputs});
        });
    }

    bool subsample(Team & team, const Scratch & scratch) {
        const size_t width = weights_.subsampling->width();
        const bool continues = team.each(groups_of(count_, Subsampling::chunk_frames), [&](size_t chunk) {
            const size_t first = chunk * Subsampling::chunk_frames;
            const size_t many = std::min(Subsampling::chunk_frames, count_ - first);
            weights_.subsampling->compute(spectrum_, spectrum_frames_, first, many, scratch.subsampling.get(), scratch.rows.get());
            for (size_t i = 0; i < many; i++) {
                quantize(scratch.rows.get() + i * width, width, wide_, first + i);
            }
        });
        return continues && team.each(width_ / panel_outputs, [&](size_t panel) {
            multiply(wide_, count_, weights_.input, scratch.panel.get(),
                     Store{stream_, weights_.input_bias, width_, panel * panel_outputs});
        });
    }

    bool feed_forward(Team & team, const Scratch & scratch, const ConformerWeights::FeedForward & weights) {
        return normalize_stream(team, scratch, weights.norm) &&
               team.each(4 * width_ / panel_outputs, [&](size_t panel) {
                   multiply(narrow_, count_, weights.first, scratch.panel.get(), Activate{wide_, panel * panel_outputs});
               }) &&
               add_product(team, scratch, wide_, weights.second, half);
    }

    bool attend(Team & team, const Scratch & scratch, const ConformerWeights::Layer & weights, const TurnedVectors & positions) {
        const size_t panels = width_ / panel_outputs;
        const size_t head_width = width_ / weights_.heads;
        const RelativeAttention attention{count_, weights_.heads, head_width, queries_.get(), &keys_, values_.get(),
                                          weights.key_bias, weights.position_bias, &positions, positions_.most};
        const size_t groups = groups_of(count_, group_queries);
        return normalize_stream(team, scratch, weights.attention_norm) &&
               team.each(3 * panels, [&](size_t panel) {
                   const size_t column = panel % panels * panel_outputs;
                   PanelBlock * memory = scratch.panel.get();
                   const ggml_tensor * matrix = weights.projections[panel / panels];
                   switch (panel / panels) {
                   case 0: return multiply(narrow_, count_, matrix, memory, Store{queries_.get(), nullptr, width_, column});
                   case 1: return multiply(narrow_, count_, matrix, memory, Turn{keys_, column});
                   default: return multiply(narrow_, count_, matrix, memory, SplitHeads{values_.get(), count_, head_width, column});
                   }
               }) &&
               team.each(weights_.heads * groups, [&](size_t index) {
                   transcribe::attend(attention, index / groups, index % groups, scratch.attention.get(), mixed_.get());
               }) &&
               by_rows(team, [&](size_t row) { quantize(mixed_.get() + row * width_, width_, narrow_, row); }) &&
               add_product(team, scratch, narrow_, weights.attention_output, 1);
    }

    bool convolve(Team & team, const Scratch & scratch, const ConformerWeights::Layer & weights) {
        constexpr size_t values = panel_outputs / 2;
        return normalize_stream(team, scratch, weights.convolution_norm) &&
               team.each(width_ / values, [&](size_t panel) {
                   const size_t column = panel * values;
                   multiply(narrow_, count_, weights.gated, column, width_ + column, scratch.panel.get(),
                            Gate{mixed_.get(), width_, column});
               }) &&
               by_rows(team, [&](size_t row) {
                   transcribe::convolve(mixed_.get(), row, count_, weights, weights_.kernel, width_, scratch.rows.get());
                   quantize(scratch.rows.get(), width_, narrow_, row);
               }) &&
               add_product(team, scratch, narrow_, weights.convolution_output, 1);
    }

    const ConformerWeights & weights_;
    const Positions & positions_;
    const float * const spectrum_;
    const size_t spectrum_frames_;
    const size_t count_;
    const size_t width_;
    float * const stream_; // the residual stream, [count][width]; at the end the output
    const QuantizedRows narrow_; // [count][width]
    const QuantizedRows wide_;   // [count][4 · width] or what the subsampling needs
    const Buffer<float> queries_;
    const Buffer<float> values_;
    const Buffer<float> mixed_;
    TurnedVectors keys_;
    std::vector<Scratch> scratch_;
    std::atomic<bool> is_complete_{false};
};

Conformer::Conformer(std::unique_ptr<ConformerWeights> weights) : weights_(std::move(weights)) {}

Conformer::~Conformer() = default;

bool Conformer::is_supported() {
    ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    if (device == nullptr || !__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vnni")) {
        return false;
    }
    const auto features = reinterpret_cast<ggml_backend_get_features_t>(
        ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device), "ggml_backend_get_features"));
    if (features == nullptr) {
        return false;
    }
    for (const ggml_backend_feature * each = features(ggml_backend_dev_backend_reg(device)); each->name != nullptr; each++) {
        if (std::strcmp(each->name, "AVX512_VNNI") == 0) {
            return std::strcmp(each->value, "1") == 0;
        }
    }
    return false;
}

std::shared_ptr<const Conformer> Conformer::create(parakeet_context * context) {
    auto weights = ConformerWeights::read(context);
    return weights == nullptr ? nullptr : std::make_shared<const Conformer>(std::move(weights));
}

bool Conformer::encode(const float * spectrum, size_t frames, size_t threads, const std::function<bool()> & should_stop,
                       float * output) const {
    const auto distances = positions(Subsampling::frames_of(frames), threads, should_stop);
    if (distances == nullptr) {
        return false;
    }
    Run run(*weights_, *distances, spectrum, frames, threads, output);
    Team team(should_stop);
    team.run(threads, [&](size_t member) { run.work(team, member); });
    return run.is_complete();
}

std::shared_ptr<const Conformer::Positions> Conformer::positions(size_t count, size_t threads,
                                                                 const std::function<bool()> & should_stop) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (positions_ != nullptr && positions_->most >= count) {
        return positions_;
    }
    const size_t width = weights_->width;
    const auto made = std::make_shared<Positions>();
    made->most = std::max(count, usual_frames);
    const size_t vectors = padded_positions(made->most);
    for (size_t layer = 0; layer < weights_->layers.size(); layer++) {
        made->layers.emplace_back(vectors, width);
    }
    // The sine and cosine of each distance with falling frequencies.
    const QuantizedRows rows(vectors, width);
    std::vector<float> row(width);
    for (size_t i = 0; i < vectors; i++) {
        const float distance = static_cast<float>(made->most) + 15 - static_cast<float>(i);
        for (size_t pair = 0; pair < width / 2; pair++) {
            const float angle = distance * std::exp(-(static_cast<float>(2 * pair) * std::log(10000.0f) / static_cast<float>(width)));
            row[2 * pair] = std::sin(angle);
            row[2 * pair + 1] = std::cos(angle);
        }
        quantize(row.data(), width, rows, i);
    }
    std::vector<Buffer<PanelBlock>> panels;
    for (size_t i = 0; i < threads; i++) {
        panels.push_back(buffer<PanelBlock>(width / block_width));
    }
    const size_t parts = width / panel_outputs;
    std::atomic<bool> is_complete{false};
    Team team(should_stop);
    team.run(threads, [&](size_t member) {
        is_complete = team.each(parts * made->layers.size(), [&](size_t index) {
            const size_t layer = index / parts;
            multiply(rows, vectors, weights_->layers[layer].positions, panels[member].get(),
                     Turn{made->layers[layer], index % parts * panel_outputs});
        });
    });
    if (!is_complete) {
        return nullptr;
    }
    positions_ = made;
    return positions_;
}

}  // namespace transcribe

#else

namespace transcribe {

class Conformer::Run {};

Conformer::Conformer(std::unique_ptr<ConformerWeights> weights) : weights_(std::move(weights)) {}

Conformer::~Conformer() = default;

bool Conformer::is_supported() {
    return false;
}

std::shared_ptr<const Conformer> Conformer::create(parakeet_context *) {
    return nullptr;
}

bool Conformer::encode(const float *, size_t, size_t, const std::function<bool()> &, float *) const {
    return false;
}

}  // namespace transcribe

#endif
