#pragma once

#include "graph.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace transcribe {

// Keys and values of all slots. Those of a slot follow each other layer by layer, and in a layer position by position; a row has
// the numbers of all heads.
struct SlotCache {
    ggml_tensor * keys = nullptr;
    ggml_tensor * values = nullptr;
    int64_t layers = 0;
    int64_t positions = 0;

    int64_t first_row(int slot, int64_t layer) const { return (slot * layers + layer) * positions; }
    // Stores rows of keys and values of a layer. `rows`: a number for each, of its place in the first layer
    void store(DeviceGraph & graph, int64_t layer, ggml_tensor * new_keys, ggml_tensor * new_values, ggml_tensor * rows) const;
};

// Limits the tokens that may come next in a row: the number of a mask, and the first timestamp that is allowed.
struct SlotRule {
    int32_t mask;
    int32_t first_timestamp;
};

// The best continuations of a row by the probabilities of all tokens that the masks allow.
struct SlotChoice {
    struct Token {
        int32_t id;
        float logit;
        float probability;
    };
    static constexpr int most = 8;

    Token best[most];
    Token best_timestamps[most];
    float timestamps; // their total probability
};

// The next tokens of the texts of one slot.
struct SlotStep {
    int slot;
    int rows;
    const int32_t * tokens;
    const int32_t * positions;
    // The rows' keys and values are stored from this position of the cache on.
    int first_cell;
    // A row sees some of the first `cells` positions: those that are set in its `visible`.
    int cells;
    const std::vector<bool> * visible;
    const SlotRule * rules; // nullptr: everything may come next
    SlotChoice * choices; // nullptr: not wanted
    // Of all tokens, row by row; nullptr: not wanted
    float * logits;
};

// Decodes texts of many windows on one device. Each window has a slot: a place in tensors of keys and values that all slots
// share, so that one operation attends for all of them. The graphs of a few numbers of slots and rows are built once and
// evaluated again and again, with the same tensors at the same addresses. A graph also chooses the best tokens, so that few
// numbers return from the device. Calls must not overlap.
class Slots {
public:
    // Texts of one window: as many as a beam follows.
    static constexpr int most_rows = 5;

    // `masks`: tables of a number for each token that is added to its logit
    // Throws if memory is short or the device lacks an operation.
    Slots(ggml_backend_t backend, DecoderWeights weights, const std::vector<std::vector<float>> & masks, int slots, int cells,
          int audio_positions);
    ~Slots();
    Slots(const Slots &) = delete;
    Slots & operator=(const Slots &) = delete;

    const DecoderWeights & weights() const { return weights_; }
    // Of the texts, and of the audio.
    const SlotCache & self() const { return self_; }
    const SlotCache & cross() const { return cross_; }
    // Number of a slot that no text has: rows that nobody asked for are stored there.
    int spare() const { return slots_; }
    // Returns false if the device failed.
    bool evaluate(const std::vector<SlotStep> & steps, int threads);

    const Evaluations & evaluations() const { return evaluations_; }
    // Bytes of weights that each evaluation reads.
    int64_t weight_bytes() const { return weight_bytes_; }
    // Of all nodes of the last evaluated graph: what a device compares before it replays a graph. Not during an evaluation.
    uint64_t digest() const;

private:
    struct Shape {
        int slots, rows, cells;
        bool operator<(const Shape & other) const;
    };
    struct Graph;

    // Returns the shape of the smallest graph for so much.
    Shape shape_for(int slots, int rows, int cells) const;
    Graph & graph_for(const Shape & shape);
    std::unique_ptr<Graph> build(const Shape & shape) const;
    ggml_tensor * attend_to_texts(Graph & graph, const Shape & shape, ggml_tensor * input, int64_t layer) const;
    ggml_tensor * attend_to_audio(Graph & graph, const Shape & shape, ggml_tensor * input, int64_t layer) const;
    void choose(Graph & graph, ggml_tensor * logits) const;
    void set_inputs(Graph & graph, const Shape & shape, const std::vector<SlotStep> & steps) const;
    static void get_choices(const Graph & graph, const Shape & shape, const std::vector<SlotStep> & steps);
    void get_logits(const Graph & graph, const Shape & shape, const std::vector<SlotStep> & steps) const;

    const ggml_backend_t backend_;
    const DecoderWeights weights_;
    const int slots_;
    const int cells_;
    const int64_t width_;
    const int64_t vocabulary_;

    const ggml_context_ptr context_;
    SlotCache self_;
    SlotCache cross_;
    ggml_tensor * masks_ = nullptr;
    ggml_backend_buffer_ptr buffer_;

    Graphs<Shape, Graph> graphs_;
    const Graph * last_ = nullptr;
    Evaluations evaluations_;
    int64_t weight_bytes_ = 0;
};

}  // namespace transcribe
