#pragma once

#include <ggml-backend.h>
#include <ggml.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace transcribe {

// The weights of a model's text decoder, tensors in the memory of one device.
struct DecoderWeights {
    struct Linear {
        ggml_tensor * weight;
        ggml_tensor * bias; // nullptr: none
    };
    struct Layer {
        Linear self_norm, query, key, value, self_output;
        Linear cross_norm, cross_query, cross_output;
        Linear mlp_norm, mlp_input, mlp_output;
    };

    ggml_tensor * tokens;
    ggml_tensor * positions;
    Linear norm;
    std::vector<Layer> layers;
    int heads;
    float epsilon;
    int first_timestamp;
};

// Keys and values of one layer's attention follow those of the layer before: for each position, the numbers of all heads.
struct SlotCaches {
    ggml_tensor * keys;
    ggml_tensor * values;
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
    const SlotRule * rules;
    SlotChoice * choices;
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

    // The parts of the caches that belong to a slot, as tensors in `context`.
    SlotCaches self(ggml_context * context, int slot) const;
    SlotCaches cross(ggml_context * context, int slot) const;

    // Returns false if the device failed.
    bool evaluate(const std::vector<SlotStep> & steps, int threads);

    // Number of different graphs that were built, of evaluations, of rows of texts in them, and of bytes of weights that each reads.
    int64_t built() const { return built_; }
    int64_t evaluated() const { return evaluated_; }
    int64_t rows() const { return rows_; }
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
    ggml_tensor * attend_to_texts(Graph & graph, const Shape & shape, ggml_tensor * input, int layer) const;
    ggml_tensor * attend_to_audio(Graph & graph, const Shape & shape, ggml_tensor * input, int layer) const;
    void choose(Graph & graph, ggml_tensor * logits) const;
    void set_inputs(Graph & graph, const Shape & shape, const std::vector<SlotStep> & steps) const;
    static void get_choices(const Graph & graph, const Shape & shape, const std::vector<SlotStep> & steps);
    SlotCaches part(ggml_context * context, const SlotCaches & caches, int slot, int64_t positions) const;
    ggml_tensor * layer_of(ggml_context * context, ggml_tensor * cache, const Shape & shape, int layer, int64_t all, int64_t used) const;

    const ggml_backend_t backend_;
    const DecoderWeights weights_;
    const int slots_;
    const int cells_;
    const int audio_positions_;
    const int64_t width_;
    const int64_t vocabulary_;

    std::unique_ptr<ggml_context, void (*)(ggml_context *)> context_;
    SlotCaches self_{};
    SlotCaches cross_{};
    ggml_tensor * masks_ = nullptr;
    std::unique_ptr<ggml_backend_buffer, void (*)(ggml_backend_buffer_t)> buffer_;

    std::map<Shape, std::unique_ptr<Graph>> graphs_;
    const Graph * last_ = nullptr;
    // Other threads read these.
    std::atomic<int64_t> built_{0};
    std::atomic<int64_t> evaluated_{0};
    std::atomic<int64_t> rows_{0};
    int64_t weight_bytes_ = 0;
};

}  // namespace transcribe
