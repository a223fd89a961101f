#pragma once

#include "slots.h"

#include <memory>
#include <utility>
#include <vector>

namespace transcribe {

// A window of 30 s, whose audio a slot's text is about.
struct SlotWindow {
    int slot;
    // Of all frames, band by band; nullptr: `output` is already known.
    const float * spectrum;
    // The encoder's output, position by position; nullptr: not wanted
    float * output;
};

// Encodes several windows in one graph, and stores the keys and values of their audio in their slots. There is a graph for each
// power of two of windows. Calls must not overlap.
class Windows {
public:
    // Maximum number of windows in a graph. It is lower if memory is short.
    static constexpr int most = 8;

    // Throws if memory is short, or if the device lacks an operation.
    Windows(ggml_backend_t backend, EncoderWeights weights, const Slots & slots);
    ~Windows();
    Windows(const Windows &) = delete;
    Windows & operator=(const Windows &) = delete;

    // All windows have a spectrum, or none has. Returns false if the device failed or `should_end` returned
    // true. Throws if memory is short.
    bool evaluate(const std::vector<SlotWindow> & windows, int threads, ggml_abort_callback should_end, void * data);

    const Evaluations & evaluations() const { return evaluations_; }
    // Bytes of weights that an evaluation reads.
    int64_t weight_bytes(bool encodes) const;

private:
    using Shape = std::pair<int, bool>; // number of windows, whether they are encoded
    struct Graph;

    bool evaluate_graph(const std::vector<SlotWindow> & windows, int threads, ggml_abort_callback should_end, void * data);
    Graph & graph_for(const Shape & shape);
    std::unique_ptr<Graph> build(const Shape & shape) const;
    ggml_tensor * convolve(ggml_context * context, ggml_tensor * spectrum) const;
    ggml_tensor * attend_to_itself(Graph & graph, const EncoderWeights::Layer & layer, ggml_tensor * input, int windows) const;
    ggml_tensor * encode(Graph & graph, ggml_tensor * spectrum, int windows) const;

    const ggml_backend_t backend_;
    const EncoderWeights weights_;
    const Slots & slots_;
    const int64_t positions_;
    const int64_t width_;
    int most_ = most;

    // Keys and values of a layer. Behind those of a window are zeros, as in whisper.cpp's own graphs.
    const ggml_context_ptr context_;
    ggml_tensor * keys_ = nullptr;
    ggml_tensor * values_ = nullptr;
    ggml_backend_buffer_ptr buffer_;

    Graphs<Shape, Graph> graphs_;
    Evaluations evaluations_;
};

}  // namespace transcribe
