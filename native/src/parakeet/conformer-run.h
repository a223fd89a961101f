#pragma once

#include "conformer-positions.h"
#include "conformer-products.h"
#include "conformer-steps.h"
#include "conformer-weights.h"
#include "relative-attention.h"
#include "team.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

namespace transcribe {

// The computation of one window with a kind of product.
template <typename Products> class ConformerRun {
public:
    ConformerRun(const ConformerWeights & weights, const ConformerPositions & positions, const float * spectrum,
                 size_t spectrum_frames, size_t threads, float * output)
        : weights_(weights), positions_(positions), spectrum_(spectrum), spectrum_frames_(spectrum_frames),
          count_(Subsampling::frames_of(spectrum_frames)), width_(weights.width),
          widest_(std::max(4 * width_, weights.subsampling->width())), stream_(output), narrow_(count_, width_),
          wide_(count_, widest_), queries_(buffer<float>(count_ * width_)), values_(buffer<float>(count_ * width_)),
          mixed_(buffer<float>(count_ * width_)), keys_(padded_keys(count_), width_) {
        for (size_t i = 0; i < threads; i++) {
            scratch_.push_back({buffer<Memory>(Products::scratch_of(widest_)), weights.subsampling->scratch(),
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
    using Rows = typename Products::Rows;
    using Memory = typename Products::Scratch;

    struct Scratch {
        Buffer<Memory> product;
        Buffer<float> subsampling;
        Buffer<float> attention;
        Buffer<float> rows;
    };

    // Rows that a thread computes at once.
    static constexpr size_t group_rows = 8;
    // Of both feed-forward modules.
    static constexpr float half = 0.5f;

    static size_t groups_of(size_t count, size_t size) { return (count + size - 1) / size; }

    template <typename Work> bool by_rows(Team & team, const Work & work) {
        return team.each(groups_of(count_, group_rows), [&](size_t group) {
            for (size_t row = group * group_rows; row < std::min(count_, (group + 1) * group_rows); row++) {
                work(row);
            }
        });
    }

    bool normalize_stream(Team & team, const Scratch & scratch, const Norm & norm) {
        return by_rows(team, [&](size_t row) {
            normalize(stream_ + row * width_, norm, width_, scratch.rows.get());
            Products::store(scratch.rows.get(), width_, narrow_, row);
        });
    }

    bool add_product(Team & team, const Scratch & scratch, const Rows & rows, const ggml_tensor * weights, float factor) {
        return team.each(width_ / panel_outputs, [&](size_t panel) {
            multiply<Products>(rows, count_, weights, scratch.product.get(),
                               AddTo{stream_, width_, factor, panel * panel_outputs});
        });
    }

    bool subsample(Team & team, const Scratch & scratch) {
        const size_t width = weights_.subsampling->width();
        const bool continues = team.each(groups_of(count_, Subsampling::chunk_frames), [&](size_t chunk) {
            const size_t first = chunk * Subsampling::chunk_frames;
            const size_t many = std::min(Subsampling::chunk_frames, count_ - first);
            weights_.subsampling->compute(spectrum_, spectrum_frames_, first, many, scratch.subsampling.get(),
                                          scratch.rows.get());
            for (size_t i = 0; i < many; i++) {
                Products::store(scratch.rows.get() + i * width, width, wide_, first + i);
            }
        });
        return continues && team.each(width_ / panel_outputs, [&](size_t panel) {
            multiply<Products>(wide_, count_, weights_.input, scratch.product.get(),
                               Store{stream_, weights_.input_bias, width_, panel * panel_outputs});
        });
    }

    bool feed_forward(Team & team, const Scratch & scratch, const ConformerWeights::FeedForward & weights) {
        return normalize_stream(team, scratch, weights.norm) &&
               team.each(4 * width_ / panel_outputs, [&](size_t panel) {
                   multiply<Products>(narrow_, count_, weights.first, scratch.product.get(),
                                      Activate<Products>{wide_, panel * panel_outputs});
               }) &&
               add_product(team, scratch, wide_, weights.second, half);
    }

    bool attend(Team & team, const Scratch & scratch, const ConformerWeights::Layer & weights,
                const TurnedVectors & positions) {
        const size_t panels = width_ / panel_outputs;
        const size_t head_width = width_ / weights_.heads;
        const RelativeAttention attention{count_, weights_.heads, head_width, queries_.get(), &keys_, values_.get(),
                                          weights.key_bias, weights.position_bias, &positions, positions_.most};
        const size_t groups = groups_of(count_, group_queries);
        return normalize_stream(team, scratch, weights.attention_norm) &&
               team.each(3 * panels, [&](size_t panel) {
                   const size_t column = panel % panels * panel_outputs;
                   Memory * memory = scratch.product.get();
                   const ggml_tensor * matrix = weights.projections[panel / panels];
                   const auto project = [&](const auto & step) { multiply<Products>(narrow_, count_, matrix, memory, step); };
                   switch (panel / panels) {
                   case 0: return project(Store{queries_.get(), nullptr, width_, column});
                   case 1: return project(Turn{keys_, column});
                   default: return project(SplitHeads{values_.get(), count_, head_width, column});
                   }
               }) &&
               team.each(weights_.heads * groups, [&](size_t index) {
                   transcribe::attend(attention, index / groups, index % groups, scratch.attention.get(), mixed_.get());
               }) &&
               by_rows(team, [&](size_t row) { Products::store(mixed_.get() + row * width_, width_, narrow_, row); }) &&
               add_product(team, scratch, narrow_, weights.attention_output, 1);
    }

    bool convolve(Team & team, const Scratch & scratch, const ConformerWeights::Layer & weights) {
        constexpr size_t values = panel_outputs / 2;
        return normalize_stream(team, scratch, weights.convolution_norm) &&
               team.each(width_ / values, [&](size_t panel) {
                   const size_t column = panel * values;
                   multiply<Products>(narrow_, count_, weights.gated, column, width_ + column, scratch.product.get(),
                                      Gate{mixed_.get(), width_, column});
               }) &&
               by_rows(team, [&](size_t row) {
                   transcribe::convolve(mixed_.get(), row, count_, weights.depthwise.get(), weights.depthwise_bias.get(),
                                        weights_.kernel, width_, scratch.rows.get());
                   Products::store(scratch.rows.get(), width_, narrow_, row);
               }) &&
               add_product(team, scratch, narrow_, weights.convolution_output, 1);
    }

    const ConformerWeights & weights_;
    const ConformerPositions & positions_;
    const float * const spectrum_;
    const size_t spectrum_frames_;
    const size_t count_;
    const size_t width_;
    const size_t widest_; // 4 · width, or the width of the subsampling
    float * const stream_; // the residual stream, [count][width]; at the end the output
    const Rows narrow_; // [count][width]
    const Rows wide_;   // [count][widest]
    const Buffer<float> queries_;
    const Buffer<float> values_;
    const Buffer<float> mixed_;
    TurnedVectors keys_;
    std::vector<Scratch> scratch_;
    std::atomic<bool> is_complete_{false};
};

}  // namespace transcribe
