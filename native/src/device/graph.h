#pragma once

#include "weights.h"

#include <ggml-backend.h>
#include <ggml-cpp.h>
#include <ggml.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace transcribe {

// How often graphs were evaluated. Other threads read it.
struct Evaluations {
    std::atomic<int64_t> built{0};     // different graphs
    std::atomic<int64_t> evaluated{0}; // graphs, each time
    std::atomic<int64_t> items{0};     // windows or rows of texts in them
};

// A graph that is built once and evaluated again and again, with the same tensors at the same addresses, so that a device can
// replay it. Its inputs have to be set before each evaluation, except those that stay.
class DeviceGraph {
public:
    DeviceGraph();

    ggml_context * context() const { return context_.get(); }
    int nodes() const { return ggml_graph_n_nodes(graph_); }
    const ggml_tensor * node(int index) const { return ggml_graph_node(graph_, index); }

    ggml_tensor * input(ggml_tensor * tensor);
    // An input that keeps its numbers from one evaluation to the next.
    ggml_tensor * lasting_input(ggml_tensor * tensor);
    ggml_tensor * output(ggml_tensor * tensor);
    // Adds an operation that no output needs, because it writes to a tensor outside of the graph.
    void run(ggml_tensor * operation);

    // Reserves the memory. Throws if it is short, or if the device lacks an operation. `purpose`: of the memory, for the error
    void allocate(ggml_backend_t backend, const std::string & purpose);
    // Evaluates the graph. Returns false if the device failed, or if `should_end` (a CPU asks it) returned true.
    bool evaluate(ggml_backend_t backend, int threads, ggml_abort_callback should_end = nullptr, void * data = nullptr);

private:
    ggml_context_ptr context_;
    ggml_cgraph * graph_;
    ggml_gallocr_ptr memory_;
};

// The graphs of several shapes. Each one is built when it is first needed.
template <typename Shape, typename Graph> class Graphs {
public:
    // Returns the graph of a shape, from `build(shape)` unless it is known, and counts those that are built.
    template <typename Build> Graph & at(const Shape & shape, Evaluations & evaluations, const Build & build) {
        auto known = graphs_.find(shape);
        if (known == graphs_.end()) {
            known = graphs_.emplace(shape, build(shape)).first;
            evaluations.built += 1;
        }
        return *known->second;
    }

private:
    std::map<Shape, std::unique_ptr<Graph>> graphs_;
};

// Calls `evaluate` with at most `most` items at a time. Returns false if a call did.
template <typename Item, typename Evaluate>
bool evaluate_in_groups(const std::vector<Item> & items, int most, const Evaluate & evaluate) {
    for (auto first = items.begin(); first != items.end();) {
        const auto end = first + std::min<std::ptrdiff_t>(most, items.end() - first);
        if (!evaluate(std::vector<Item>(first, end))) {
            return false;
        }
        first = end;
    }
    return true;
}

// Tensors with memory of their own, all zero, that outlives the graphs. Throws if it is short.
ggml_backend_buffer_ptr allocate_zeros(ggml_context * context, ggml_backend_t backend, const std::string & purpose);

int next_power_of_two(int number);

template <typename Numbers> void set_tensor(ggml_tensor * tensor, const Numbers & numbers) {
    ggml_backend_tensor_set(tensor, numbers.data(), 0, ggml_nbytes(tensor));
}

template <typename Numbers> void get_tensor(const ggml_tensor * tensor, Numbers & numbers) {
    ggml_backend_tensor_get(tensor, numbers.data(), 0, ggml_nbytes(tensor));
}

// Operations. Sums have 32 bits, as in whisper.cpp's own graphs.
ggml_tensor * multiply(ggml_context * context, ggml_tensor * weight, ggml_tensor * input);
ggml_tensor * apply(ggml_context * context, const Linear & linear, ggml_tensor * input);
ggml_tensor * normalize(ggml_context * context, const Linear & norm, ggml_tensor * input, float epsilon);
// Returns stream + output · GELU(input · norm(stream)).
ggml_tensor * add_feed_forward(ggml_context * context, const Linear & norm, const Linear & input, const Linear & output, float epsilon,
                               ggml_tensor * stream);
// Returns what an attention adds to a layer's stream. `input`: the normalized stream
using Attend = std::function<ggml_tensor *(ggml_tensor * input, int64_t layer)>;
// Returns the stream of rows of texts after the decoder's first `layers` layers.
ggml_tensor * decode(ggml_context * context, const DecoderWeights & weights, ggml_tensor * tokens, ggml_tensor * positions, int64_t layers,
                     const Attend & attend_to_text, const Attend & attend_to_audio);
// `queries`: [width of a head, heads, rows, windows]; keys, values: [width of a head, positions, heads, windows]
// Returns a row of all heads for each row of each window.
ggml_tensor * attend(ggml_context * context, ggml_tensor * queries, ggml_tensor * keys, ggml_tensor * values, ggml_tensor * mask,
                     float scale);
// Rows as heads: [width of a head, heads, rows, windows]
ggml_tensor * by_heads(ggml_context * context, ggml_tensor * rows, int64_t heads, int64_t windows);
// Keys or values of consecutive windows as [width of a head, positions, heads, windows].
// `rows`: distance of windows, in rows of the tensor
ggml_tensor * cache_by_heads(ggml_context * context, ggml_tensor * cache, int64_t heads, int64_t positions, int64_t windows,
                             int64_t rows, int64_t first_row);

}  // namespace transcribe
