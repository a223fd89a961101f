#pragma once

#include "slots.h"

#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace transcribe {

// All tokens of a text at once.
struct SlotPass {
    int slot;
    int tokens;
    const int32_t * ids;
    // A prompt: its keys and values are stored in the slot's cache from this position on; -1: the text is aligned.
    int first_cell;
    // Of a prompt: the tokens whose logits are wanted, and where to.
    std::vector<std::pair<int, float *>> logits;
    // Of an alignment: for each alignment head and token, how much it attends to each position of the audio.
    float * weights;
};

// Reads texts of several windows in one graph: prompts that are longer than a step, and finished texts whose words are aligned
// with the audio. There is a graph for a few lengths and each power of two of texts. Calls must not overlap.
class Passes {
public:
    // Maximum number of texts in a graph.
    static constexpr int most = 8;
    // Tokens of a prompt whose logits may be wanted.
    static constexpr int most_logits = 2;

    using Head = std::pair<int, int>; // layer, number in it

    // `heads`: alignment heads, in the order of the weights
    // Throws if memory is short, or if the device lacks an operation.
    Passes(ggml_backend_t backend, const Slots & slots, std::vector<Head> heads, int audio_positions);
    ~Passes();
    Passes(const Passes &) = delete;
    Passes & operator=(const Passes &) = delete;

    // All are prompts, or all are aligned. Returns false if the device failed. Throws if memory is short.
    bool evaluate(const std::vector<SlotPass> & passes, int threads);

    size_t heads() const { return heads_.size(); }
    const Evaluations & evaluations() const { return evaluations_; }
    // Bytes of weights that an evaluation reads at most.
    int64_t weight_bytes() const { return slots_.weight_bytes(); }

private:
    struct Shape {
        int texts, tokens;
        bool is_prompt;
        bool operator<(const Shape & other) const {
            return std::tie(texts, tokens, is_prompt) < std::tie(other.texts, other.tokens, other.is_prompt);
        }
    };
    struct Graph;

    bool evaluate_graph(const std::vector<SlotPass> & passes, int threads);
    Graph & graph_for(const Shape & shape);
    std::unique_ptr<Graph> build(const Shape & shape) const;
    ggml_tensor * attend_to_text(Graph & graph, const Shape & shape, ggml_tensor * input, int64_t layer) const;
    ggml_tensor * attend_to_audio(Graph & graph, const Shape & shape, ggml_tensor * input, int64_t layer) const;
    void set_inputs(const Graph & graph, const Shape & shape, const std::vector<SlotPass> & passes) const;
    static void get_outputs(const Graph & graph, const std::vector<SlotPass> & passes);

    const ggml_backend_t backend_;
    const Slots & slots_;
    const std::vector<Head> heads_;
    const int64_t audio_positions_;
    const int64_t width_;
    const int most_tokens_;

    // Keys and values of a layer.
    const ggml_context_ptr context_;
    ggml_tensor * keys_ = nullptr;
    ggml_tensor * values_ = nullptr;
    ggml_backend_buffer_ptr buffer_;

    Graphs<Shape, Graph> graphs_;
    Evaluations evaluations_;
};

}  // namespace transcribe
