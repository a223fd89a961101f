#include "encoder-layers.h"

#if defined(__x86_64__)

#include "attention.h"
#include "in-parallel.h"

#include <algorithm>

namespace transcribe {

namespace {

// Positions that are computed at once, so that their numbers stay in the CPU's cache.
constexpr size_t block_positions = 48;

// output = GELU(sums + bias)
struct ActivateGelu {
    float * output;
    const float * bias;
    size_t width;
    size_t column;

    static void take(const void * self, size_t row, const float * sums) {
        const auto & [output, bias, width, column] = *static_cast<const ActivateGelu *>(self);
        gelu_of_sums(sums, bias + column, output + row * width + column);
    }
};

// output += sums + bias
struct AddWithBias {
    float * output;
    const float * bias;
    size_t width;
    size_t column;

    static void take(const void * self, size_t row, const float * sums) {
        const auto & [output, bias, width, column] = *static_cast<const AddWithBias *>(self);
        add_sums_with_bias(sums, bias + column, output + row * width + column);
    }
};

// Multiplies `count` rows and gives the sums to steps of one kind, whose output starts at the first row.
template <typename Step> void multiply(const QuantizedRows & rows, size_t count, const Product & weights, float * output) {
    const size_t blocks = weights.inputs / wide_block_width;
    for (size_t column = 0; column < weights.outputs; column += panel_outputs) {
        const Step step{output, weights.bias, weights.outputs, column};
        multiply_panel(rows, count, weights.panels + column / panel_outputs * blocks, blocks, Step::take, &step);
    }
}

void quantize_rows(const float * input, size_t count, size_t width, const QuantizedRows & output) {
    for (size_t row = 0; row < count; row++) {
        quantize(input + row * width, width, output, row);
    }
}

void normalize_rows(const float * input, size_t count, const Norm & norm, size_t width, float * scratch,
                    const QuantizedRows & output) {
    for (size_t row = 0; row < count; row++) {
        normalize(input + row * width, norm, width, scratch);
        quantize(scratch, width, output, row);
    }
}

// Calls `work(first, count, memory)` for all positions, at most one block at a time; each thread has a `Memory` of its own.
template <typename Memory, typename Work> void by_blocks(size_t threads, size_t count, size_t width, const Work & work) {
    const size_t blocks = (count + block_positions - 1) / block_positions;
    in_parallel(threads, blocks, [&](size_t from, size_t to) {
        const Memory memory(width);
        for (size_t block = from; block < to; block++) {
            const size_t first = block * block_positions;
            work(first, std::min(count - first, block_positions), memory);
        }
    });
}

struct NarrowMemory {
    QuantizedRows rows;
    Buffer<float> row;

    explicit NarrowMemory(size_t width) : rows(block_positions, width, wide_block_width), row(buffer<float>(width)) {}
};

struct WideMemory : NarrowMemory {
    Buffer<float> inner;
    QuantizedRows inner_rows;

    explicit WideMemory(size_t width)
        : NarrowMemory(width), inner(buffer<float>(block_positions * 4 * width)),
          inner_rows(block_positions, 4 * width, wide_block_width) {}
};

}  // namespace

void AttentionLayer::add_to(float * stream, size_t count, size_t threads) const {
    const size_t width = projections.inputs;
    const auto projected = project(stream, count, projections, threads);
    const auto attended = buffer<float>(count * width);
    attend(projected.get(), attended.get(), count, width / head_width, threads);
    add_output(attended.get(), count, stream, threads);
}

void AttentionLayer::add_to_kept(const float * stream, const KeptPositions & kept, float * output, size_t threads) const {
    const size_t width = projections.inputs;
    for (size_t row = 0; row < kept.count(); row++) {
        std::copy_n(stream + kept.at(row) * width, width, output + row * width);
    }
    const Product of_queries{projections.panels, projections.bias, width, width};
    const Product of_others{projections.panels + width / panel_outputs * (width / wide_block_width), projections.bias + width, width,
                            2 * width};
    const auto queries = project(output, kept.count(), of_queries, threads);
    const auto others = project(stream, kept.positions(), of_others, threads);
    const auto attended = buffer<float>(kept.count() * width);
    attend({queries.get(), width, kept.count(), others.get(), others.get() + width, 2 * width, kept.positions()}, attended.get(),
           width / head_width, threads);
    add_output(attended.get(), kept.count(), output, threads);
}

Buffer<float> AttentionLayer::project(const float * stream, size_t count, const Product & product, size_t threads) const {
    const size_t width = product.inputs;
    auto projected = buffer<float>(count * product.outputs);
    by_blocks<NarrowMemory>(threads, count, width, [&](size_t first, size_t many, const NarrowMemory & memory) {
        normalize_rows(stream + first * width, many, norm, width, memory.row.get(), memory.rows);
        multiply<Store>(memory.rows, many, product, projected.get() + first * product.outputs);
    });
    return projected;
}

void AttentionLayer::add_output(const float * attended, size_t count, float * stream, size_t threads) const {
    const size_t width = output.inputs;
    by_blocks<NarrowMemory>(threads, count, width, [&](size_t first, size_t many, const NarrowMemory & memory) {
        quantize_rows(attended + first * width, many, width, memory.rows);
        multiply<AddWithBias>(memory.rows, many, output, stream + first * width);
    });
}

void FeedForwardLayer::add_to(float * stream, size_t count, size_t threads) const {
    const size_t width = first.inputs;
    by_blocks<WideMemory>(threads, count, width, [&](size_t from, size_t many, const WideMemory & memory) {
        normalize_rows(stream + from * width, many, norm, width, memory.row.get(), memory.rows);
        multiply<ActivateGelu>(memory.rows, many, first, memory.inner.get());
        quantize_rows(memory.inner.get(), many, first.outputs, memory.inner_rows);
        multiply<AddWithBias>(memory.inner_rows, many, second, stream + from * width);
    });
}

}  // namespace transcribe

#endif
