#include "passes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>

namespace transcribe {

namespace {

// Fewest tokens of a graph. Most texts of a window have fewer than twice as many.
constexpr int least_tokens = 64;
// Flash attention reads keys in blocks of this size.
constexpr int block = 256;

int whole_blocks(int number) {
    return (number + block - 1) / block * block;
}

}  // namespace

struct Passes::Graph : DeviceGraph {
    // Inputs. `audio`: the rows of the windows' audio in the first layer of their slots.
    ggml_tensor *tokens = nullptr, *positions = nullptr, *visible = nullptr, *audio = nullptr, *places = nullptr, *wanted = nullptr;
    bool has_lasting_inputs = false;
    // Outputs: one of them.
    ggml_tensor * logits = nullptr;
    std::vector<ggml_tensor *> weights;
};

Passes::Passes(ggml_backend_t backend, const Slots & slots, std::vector<Head> heads, int audio_positions)
    : backend_(backend), slots_(slots), heads_(std::move(heads)), audio_positions_(audio_positions),
      width_(slots.weights().tokens->ne[0]), most_tokens_(static_cast<int>(slots.weights().positions->ne[1])),
      context_(ggml_init({2 * ggml_tensor_overhead(), nullptr, true})) {
    const auto cache = [&] { return ggml_new_tensor_3d(context_.get(), GGML_TYPE_F16, width_, whole_blocks(most_tokens_), most); };
    keys_ = cache();
    values_ = cache();
    buffer_ = allocate_zeros(context_.get(), backend, "to read texts");
    // These graphs show whether the device has all operations.
    graph_for({1, most_tokens_, true});
    graph_for({1, most_tokens_, false});
}

Passes::~Passes() = default;

ggml_tensor * Passes::attend_to_text(Graph & graph, const Shape & shape, ggml_tensor * input, int64_t layer) const {
    ggml_context * ctx = graph.context();
    const DecoderWeights::Layer & weights = slots_.weights().layers[static_cast<size_t>(layer)];
    const int64_t heads = slots_.weights().heads;
    const float scale = std::pow(static_cast<float>(width_ / heads), -0.25f);
    ggml_tensor * queries = ggml_scale(ctx, apply(ctx, weights.query, input), scale);
    ggml_tensor * keys = ggml_scale(ctx, apply(ctx, weights.key, input), scale);
    ggml_tensor * values = apply(ctx, weights.value, input);
    if (shape.is_prompt) {
        slots_.self().store(graph, layer, keys, values, graph.places);
    }
    const auto store = [&](ggml_tensor * cache, ggml_tensor * rows) {
        ggml_tensor * to = ggml_view_3d(ctx, cache, width_, shape.tokens, shape.texts, cache->nb[1], cache->nb[2], 0);
        graph.run(ggml_cpy(ctx, ggml_reshape_3d(ctx, rows, width_, shape.tokens, shape.texts), to));
        return cache_by_heads(ctx, cache, heads, whole_blocks(shape.tokens), shape.texts, cache->ne[1], 0);
    };
    ggml_tensor * stored_keys = store(keys_, keys);
    ggml_tensor * stored_values = store(values_, values);
    return apply(ctx, weights.self_output,
                 attend(ctx, by_heads(ctx, queries, heads, shape.texts), stored_keys, stored_values, graph.visible, 1.0f));
}

ggml_tensor * Passes::attend_to_audio(Graph & graph, const Shape & shape, ggml_tensor * input, int64_t layer) const {
    ggml_context * ctx = graph.context();
    const DecoderWeights::Layer & weights = slots_.weights().layers[static_cast<size_t>(layer)];
    const int64_t heads = slots_.weights().heads;
    const SlotCache & cross = slots_.cross();
    const float scale = std::pow(static_cast<float>(width_ / heads), -0.25f);
    ggml_tensor * queries = by_heads(ctx, apply(ctx, weights.cross_query, input), heads, shape.texts);
    // The texts are of any slots: their audio is brought together.
    const auto of_texts = [&](ggml_tensor * cache) {
        const int64_t first = cross.first_row(0, layer);
        ggml_tensor * from =
            ggml_view_2d(ctx, cache, width_, cache->ne[1] - first, cache->nb[1], static_cast<size_t>(first) * cache->nb[1]);
        return ggml_cast(ctx, ggml_get_rows(ctx, from, graph.audio), GGML_TYPE_F16);
    };
    ggml_tensor * keys = of_texts(cross.keys);
    for (const auto & [of_layer, head] : heads_) {
        if (shape.is_prompt || of_layer != layer) {
            continue;
        }
        // [width of a head, positions or tokens, texts]
        const auto of_head = [&](ggml_tensor * all, int64_t rows, int64_t rows_of_text, size_t row) {
            const size_t first = static_cast<size_t>(head * (width_ / heads)) * ggml_element_size(all);
            return ggml_cont(ctx, ggml_view_3d(ctx, all, width_ / heads, rows, shape.texts, row,
                                               row * static_cast<size_t>(rows_of_text), first));
        };
        ggml_tensor * products = multiply(ctx, of_head(keys, audio_positions_, cross.positions, keys->nb[1]),
                                          of_head(queries, shape.tokens, shape.tokens, queries->nb[2]));
        graph.weights.push_back(graph.output(ggml_soft_max_ext(ctx, products, nullptr, scale, 0.0f)));
    }
    const auto split = [&](ggml_tensor * all) {
        return cache_by_heads(ctx, all, heads, cross.positions, shape.texts, cross.positions, 0);
    };
    return apply(ctx, weights.cross_output, attend(ctx, queries, split(keys), split(of_texts(cross.values)), nullptr, scale));
}

std::unique_ptr<Passes::Graph> Passes::build(const Shape & shape) const {
    auto graph = std::make_unique<Graph>();
    ggml_context * ctx = graph->context();
    const DecoderWeights & weights = slots_.weights();
    const int64_t rows = static_cast<int64_t>(shape.texts) * shape.tokens;
    graph->tokens = graph->input(ggml_new_tensor_1d(ctx, GGML_TYPE_I32, rows));
    graph->audio = graph->input(ggml_new_tensor_1d(ctx, GGML_TYPE_I32, slots_.cross().positions * shape.texts));
    graph->positions = graph->lasting_input(ggml_new_tensor_1d(ctx, GGML_TYPE_I32, rows));
    graph->visible = graph->lasting_input(ggml_new_tensor_2d(ctx, GGML_TYPE_F16, whole_blocks(shape.tokens), shape.tokens));
    if (shape.is_prompt) {
        graph->places = graph->input(ggml_new_tensor_1d(ctx, GGML_TYPE_I64, rows));
        graph->wanted = graph->input(ggml_new_tensor_1d(ctx, GGML_TYPE_I32, most_logits * shape.texts));
    }
    auto layers = static_cast<int64_t>(weights.layers.size());
    if (!shape.is_prompt) {
        // Up to the last one that has an alignment head.
        layers = heads_.empty() ? 1 : std::max_element(heads_.begin(), heads_.end())->first + 1;
    }
    ggml_tensor * stream = decode(
        ctx, weights, graph->tokens, graph->positions, layers,
        [&](ggml_tensor * input, int64_t layer) { return attend_to_text(*graph, shape, input, layer); },
        [&](ggml_tensor * input, int64_t layer) { return attend_to_audio(*graph, shape, input, layer); });
    if (shape.is_prompt) {
        ggml_tensor * wanted = normalize(ctx, weights.norm, ggml_get_rows(ctx, stream, graph->wanted), weights.epsilon);
        graph->logits = graph->output(multiply(ctx, weights.tokens, wanted));
    }
    graph->allocate(backend_, "to read " + std::to_string(shape.texts) + " texts at once");
    return graph;
}

Passes::Graph & Passes::graph_for(const Shape & shape) {
    return graphs_.at(shape, evaluations_, [this](const Shape & missing) { return build(missing); });
}

bool Passes::evaluate(const std::vector<SlotPass> & passes, int threads) {
    return evaluate_in_groups(passes, most, [&](const std::vector<SlotPass> & group) { return evaluate_graph(group, threads); });
}

bool Passes::evaluate_graph(const std::vector<SlotPass> & passes, int threads) {
    int tokens = least_tokens;
    for (const SlotPass & pass : passes) {
        tokens = std::max(tokens, pass.tokens);
    }
    const Shape shape{next_power_of_two(static_cast<int>(passes.size())), std::min(next_power_of_two(tokens), most_tokens_),
                      passes.front().first_cell >= 0};
    Graph & graph = graph_for(shape);
    set_inputs(graph, shape, passes);
    graph.has_lasting_inputs = true;
    if (!graph.evaluate(backend_, threads)) {
        return false;
    }
    get_outputs(graph, passes);
    evaluations_.evaluated += 1;
    evaluations_.items += static_cast<int64_t>(passes.size());
    return true;
}

void Passes::set_inputs(const Graph & graph, const Shape & shape, const std::vector<SlotPass> & passes) const {
    const size_t rows = static_cast<size_t>(shape.texts) * static_cast<size_t>(shape.tokens);
    if (!graph.has_lasting_inputs) {
        std::vector<int32_t> positions(rows);
        std::vector<ggml_fp16_t> visible(static_cast<size_t>(whole_blocks(shape.tokens)) * static_cast<size_t>(shape.tokens),
                                         ggml_fp32_to_fp16(-INFINITY));
        for (size_t row = 0; row < rows; ++row) {
            positions[row] = static_cast<int32_t>(row) % shape.tokens;
        }
        for (int token = 0; token < shape.tokens; ++token) {
            std::fill_n(visible.begin() + static_cast<std::ptrdiff_t>(token) * whole_blocks(shape.tokens), token + 1, ggml_fp16_t{0});
        }
        set_tensor(graph.positions, positions);
        set_tensor(graph.visible, visible);
    }
    const SlotCache & cross = slots_.cross();
    std::vector<int32_t> tokens(rows, 0), audio(static_cast<size_t>(cross.positions) * static_cast<size_t>(shape.texts));
    std::vector<int64_t> places(rows);
    std::vector<int32_t> wanted(static_cast<size_t>(most_logits * shape.texts), 0);
    // Rows that nobody asked for are stored where nobody reads, each elsewhere: two writers of one place would race.
    for (size_t row = 0; row < rows; ++row) {
        places[row] = slots_.self().first_row(slots_.spare(), 0) + static_cast<int64_t>(row) % slots_.self().positions;
    }
    for (int text = 0; text < shape.texts; ++text) {
        const bool is_asked_for = text < static_cast<int>(passes.size());
        const auto begin = audio.begin() + static_cast<std::ptrdiff_t>(text) * cross.positions;
        const int slot = is_asked_for ? passes[static_cast<size_t>(text)].slot : slots_.spare();
        std::iota(begin, begin + cross.positions, static_cast<int32_t>(cross.first_row(slot, 0)));
        if (!is_asked_for) {
            continue;
        }
        const SlotPass & pass = passes[static_cast<size_t>(text)];
        const auto first = static_cast<std::ptrdiff_t>(text) * shape.tokens;
        std::copy_n(pass.ids, pass.tokens, tokens.begin() + first);
        if (shape.is_prompt) {
            std::iota(places.begin() + first, places.begin() + first + pass.tokens, slots_.self().first_row(slot, 0) + pass.first_cell);
        }
        for (size_t index = 0; index < pass.logits.size(); ++index) {
            wanted[static_cast<size_t>(text * most_logits) + index] = static_cast<int32_t>(first) + pass.logits[index].first;
        }
    }
    set_tensor(graph.tokens, tokens);
    set_tensor(graph.audio, audio);
    if (shape.is_prompt) {
        set_tensor(graph.places, places);
        set_tensor(graph.wanted, wanted);
    }
}

void Passes::get_outputs(const Graph & graph, const std::vector<SlotPass> & passes) {
    for (size_t text = 0; text < passes.size(); ++text) {
        const SlotPass & pass = passes[text];
        for (size_t index = 0; index < pass.logits.size(); ++index) {
            const size_t row = graph.logits->nb[1];
            ggml_backend_tensor_get(graph.logits, pass.logits[index].second, (text * most_logits + index) * row, row);
        }
        for (size_t head = 0; head < graph.weights.size(); ++head) {
            const ggml_tensor * weights = graph.weights[head];
            const size_t numbers = static_cast<size_t>(pass.tokens * weights->ne[0]);
            ggml_backend_tensor_get(weights, pass.weights + head * numbers, text * weights->nb[2], numbers * sizeof(float));
        }
    }
}

}  // namespace transcribe
