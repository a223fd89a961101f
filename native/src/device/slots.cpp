#include "slots.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

namespace transcribe {

namespace {

// Fewest positions of a cache that a graph reads. Half of all steps need no more.
constexpr int least_cells = 256;

}  // namespace

void SlotCache::store(DeviceGraph & graph, int64_t layer, ggml_tensor * new_keys, ggml_tensor * new_values, ggml_tensor * rows) const {
    const int64_t first = layer * positions;
    const auto put = [&](ggml_tensor * cache, ggml_tensor * numbers) {
        ggml_tensor * from = ggml_view_2d(graph.context(), cache, cache->ne[0], cache->ne[1] - first, cache->nb[1],
                                          static_cast<size_t>(first) * cache->nb[1]);
        graph.run(ggml_set_rows(graph.context(), from, numbers, rows));
    };
    put(keys, new_keys);
    put(values, new_values);
}

bool Slots::Shape::operator<(const Shape & other) const {
    return std::tie(slots, rows, cells) < std::tie(other.slots, other.rows, other.cells);
}

struct Slots::Graph : DeviceGraph {
    // Inputs. Texts look at the positions of the cache that `visible` does not mask.
    ggml_tensor *tokens = nullptr, *positions = nullptr, *places = nullptr, *visible = nullptr, *masks = nullptr,
                *timestamps = nullptr;
    // Outputs.
    ggml_tensor * logits = nullptr;
    ggml_tensor *best = nullptr, *best_logits = nullptr, *best_probabilities = nullptr;
    ggml_tensor *best_timestamps = nullptr, *timestamp_logits = nullptr, *timestamp_probabilities = nullptr;
    ggml_tensor * timestamp_sum = nullptr;
    // Whether the input `timestamps` forbids any.
    bool is_bounded = true;
};

Slots::Slots(ggml_backend_t backend, DecoderWeights weights, const std::vector<std::vector<float>> & masks, int slots, int cells,
             int audio_positions)
    : backend_(backend), weights_(std::move(weights)), slots_(slots), cells_(cells), width_(weights_.tokens->ne[0]),
      vocabulary_(weights_.tokens->ne[1]), context_(ggml_init({8 * ggml_tensor_overhead(), nullptr, true})) {
    const auto layers = static_cast<int64_t>(weights_.layers.size());
    const auto cache = [&](int64_t positions) {
        const auto tensor = [&] { return ggml_new_tensor_2d(context_.get(), GGML_TYPE_F16, width_, layers * positions * (slots + 1)); };
        return SlotCache{tensor(), tensor(), layers, positions};
    };
    self_ = cache(cells);
    cross_ = cache(audio_positions);
    masks_ = ggml_new_tensor_2d(context_.get(), GGML_TYPE_F32, vocabulary_, static_cast<int64_t>(masks.size()));
    buffer_ = allocate_zeros(context_.get(), backend, "for the texts of " + std::to_string(slots) + " windows");
    for (size_t mask = 0; mask < masks.size(); ++mask) {
        ggml_backend_tensor_set(masks_, masks[mask].data(), mask * masks_->nb[1], masks_->nb[1]);
    }
    weight_bytes_ = static_cast<int64_t>(ggml_nbytes(weights_.tokens));
    for (const DecoderWeights::Layer & layer : weights_.layers) {
        for (const auto & linear : {layer.query, layer.key, layer.value, layer.self_output, layer.cross_query, layer.cross_output,
                                    layer.mlp_input, layer.mlp_output}) {
            weight_bytes_ += static_cast<int64_t>(ggml_nbytes(linear.weight));
        }
    }
    // The largest graph shows whether the device has all operations and the memory.
    graph_for(shape_for(slots, most_rows, cells));
}

Slots::~Slots() = default;

ggml_tensor * Slots::attend_to_texts(Graph & graph, const Shape & shape, ggml_tensor * input, int64_t layer) const {
    ggml_context * ctx = graph.context();
    const DecoderWeights::Layer & weights = weights_.layers[static_cast<size_t>(layer)];
    const float scale = std::pow(static_cast<float>(width_ / weights_.heads), -0.25f);
    ggml_tensor * queries = ggml_scale(ctx, apply(ctx, weights.query, input), scale);
    ggml_tensor * keys = ggml_scale(ctx, apply(ctx, weights.key, input), scale);
    self_.store(graph, layer, keys, apply(ctx, weights.value, input), graph.places);
    const auto of_layer = [&](ggml_tensor * cache) {
        return cache_by_heads(ctx, cache, weights_.heads, shape.cells, shape.slots, self_.layers * cells_, self_.first_row(0, layer));
    };
    ggml_tensor * attended = attend(ctx, by_heads(ctx, queries, weights_.heads, shape.slots), of_layer(self_.keys),
                                    of_layer(self_.values), graph.visible, 1.0f);
    return apply(ctx, weights.self_output, attended);
}

ggml_tensor * Slots::attend_to_audio(Graph & graph, const Shape & shape, ggml_tensor * input, int64_t layer) const {
    ggml_context * ctx = graph.context();
    const DecoderWeights::Layer & weights = weights_.layers[static_cast<size_t>(layer)];
    const float scale = std::pow(static_cast<float>(width_ / weights_.heads), -0.25f);
    const auto of_layer = [&](ggml_tensor * cache) {
        return cache_by_heads(ctx, cache, weights_.heads, cross_.positions, shape.slots, cross_.layers * cross_.positions,
                              cross_.first_row(0, layer));
    };
    ggml_tensor * queries = by_heads(ctx, apply(ctx, weights.cross_query, input), weights_.heads, shape.slots);
    return apply(ctx, weights.cross_output,
                 attend(ctx, queries, of_layer(cross_.keys), of_layer(cross_.values), nullptr, scale));
}

void Slots::choose(Graph & graph, ggml_tensor * logits) const {
    ggml_context * ctx = graph.context();
    const int64_t rows = logits->ne[1];
    const int64_t first = weights_.first_timestamp;
    const int64_t timestamps = vocabulary_ - first;
    ggml_tensor * allowed = ggml_add(ctx, logits, ggml_get_rows(ctx, masks_, graph.masks));
    const auto of_timestamps = [&](ggml_tensor * all) {
        return ggml_view_2d(ctx, all, timestamps, rows, all->nb[1], static_cast<size_t>(first) * all->nb[0]);
    };
    // In place: what reads all logits comes after it in the graph.
    graph.run(ggml_add_inplace(ctx, of_timestamps(allowed), graph.timestamps));
    ggml_tensor * probabilities = ggml_soft_max(ctx, allowed);
    ggml_tensor * own_logits = ggml_cont(ctx, of_timestamps(allowed));
    ggml_tensor * own_probabilities = ggml_cont(ctx, of_timestamps(probabilities));
    const auto numbers_at = [&](ggml_tensor * all, ggml_tensor * places) {
        return ggml_get_rows(ctx, ggml_reshape_3d(ctx, all, 1, all->ne[0], rows), places);
    };
    graph.best = ggml_top_k(ctx, allowed, SlotChoice::most);
    graph.best_logits = numbers_at(allowed, graph.best);
    graph.best_probabilities = numbers_at(probabilities, graph.best);
    graph.best_timestamps = ggml_top_k(ctx, own_logits, SlotChoice::most);
    graph.timestamp_logits = numbers_at(own_logits, graph.best_timestamps);
    graph.timestamp_probabilities = numbers_at(own_probabilities, graph.best_timestamps);
    graph.timestamp_sum = ggml_sum_rows(ctx, own_probabilities);
    for (ggml_tensor * output : {graph.best, graph.best_logits, graph.best_probabilities, graph.best_timestamps,
                                 graph.timestamp_logits, graph.timestamp_probabilities, graph.timestamp_sum}) {
        graph.output(output);
    }
}

std::unique_ptr<Slots::Graph> Slots::build(const Shape & shape) const {
    auto graph = std::make_unique<Graph>();
    ggml_context * ctx = graph->context();
    const int64_t rows = static_cast<int64_t>(shape.slots) * shape.rows;
    graph->tokens = graph->input(ggml_new_tensor_1d(ctx, GGML_TYPE_I32, rows));
    graph->positions = graph->input(ggml_new_tensor_1d(ctx, GGML_TYPE_I32, rows));
    graph->places = graph->input(ggml_new_tensor_1d(ctx, GGML_TYPE_I64, rows));
    graph->masks = graph->input(ggml_new_tensor_1d(ctx, GGML_TYPE_I32, rows));
    graph->visible = graph->input(ggml_new_tensor_4d(ctx, GGML_TYPE_F16, shape.cells, shape.rows, 1, shape.slots));
    graph->timestamps = graph->lasting_input(ggml_new_tensor_2d(ctx, GGML_TYPE_F32, vocabulary_ - weights_.first_timestamp, rows));

    ggml_tensor * stream = decode(
        ctx, weights_, graph->tokens, graph->positions, self_.layers,
        [&](ggml_tensor * input, int64_t layer) { return attend_to_texts(*graph, shape, input, layer); },
        [&](ggml_tensor * input, int64_t layer) { return attend_to_audio(*graph, shape, input, layer); });
    graph->logits = graph->output(multiply(ctx, weights_.tokens, normalize(ctx, weights_.norm, stream, weights_.epsilon)));
    choose(*graph, graph->logits);
    graph->allocate(backend_, "to decode " + std::to_string(shape.slots) + " windows at once");
    return graph;
}

Slots::Shape Slots::shape_for(int slots, int rows, int cells) const {
    return {std::min(next_power_of_two(slots), slots_ + 1), rows == 1 ? 1 : most_rows, std::min(next_power_of_two(cells), cells_)};
}

Slots::Graph & Slots::graph_for(const Shape & shape) {
    return graphs_.at(shape, evaluations_, [this](const Shape & missing) { return build(missing); });
}

void Slots::set_inputs(Graph & graph, const Shape & shape, const std::vector<SlotStep> & steps) const {
    const size_t rows = static_cast<size_t>(shape.slots) * static_cast<size_t>(shape.rows);
    const int64_t timestamps = graph.timestamps->ne[0];
    const ggml_fp16_t hidden = ggml_fp32_to_fp16(-INFINITY);
    std::vector<int32_t> tokens(rows, 0), positions(rows, 0), masks(rows, 0);
    std::vector<int64_t> places(rows, self_.first_row(spare(), 0));
    std::vector<ggml_fp16_t> visible(rows * static_cast<size_t>(shape.cells), hidden);
    const bool is_bounded = std::any_of(steps.begin(), steps.end(), [](const SlotStep & step) {
        return step.rules != nullptr &&
               std::any_of(step.rules, step.rules + step.rows, [](const SlotRule & rule) { return rule.first_timestamp > 0; });
    });
    // Most steps forbid none: the largest input then stays as it is.
    const bool sets_bounds = is_bounded || graph.is_bounded;
    std::vector<float> bounds(sets_bounds ? rows * static_cast<size_t>(timestamps) : 0, 0.0f);
    // Rows that nobody asked for look at one position, because a row without any would not be a number.
    for (size_t row = 0; row < rows; ++row) {
        visible[row * static_cast<size_t>(shape.cells)] = 0;
        // Each is stored elsewhere: two writers of one place would race.
        places[row] += static_cast<int64_t>(row) % cells_;
    }
    for (const SlotStep & step : steps) {
        for (int index = 0; index < step.rows; ++index) {
            const size_t row = static_cast<size_t>(step.slot) * static_cast<size_t>(shape.rows) + static_cast<size_t>(index);
            tokens[row] = step.tokens[index];
            positions[row] = step.positions[index];
            const SlotRule rule = step.rules == nullptr ? SlotRule{0, 0} : step.rules[index];
            masks[row] = rule.mask;
            places[row] = self_.first_row(step.slot, 0) + step.first_cell + index;
            ggml_fp16_t * seen = visible.data() + row * static_cast<size_t>(shape.cells);
            const std::vector<bool> & of_row = step.visible[index];
            for (size_t cell = 0; cell < of_row.size(); ++cell) {
                seen[cell] = of_row[cell] ? 0 : hidden;
            }
            if (is_bounded) {
                float * bound = bounds.data() + row * static_cast<size_t>(timestamps);
                std::fill_n(bound, std::clamp<int64_t>(rule.first_timestamp, 0, timestamps), -INFINITY);
            }
        }
    }
    set_tensor(graph.tokens, tokens);
    set_tensor(graph.positions, positions);
    set_tensor(graph.places, places);
    set_tensor(graph.masks, masks);
    set_tensor(graph.visible, visible);
    if (sets_bounds) {
        set_tensor(graph.timestamps, bounds);
        graph.is_bounded = is_bounded;
    }
}

void Slots::get_choices(const Graph & graph, const Shape & shape, const std::vector<SlotStep> & steps) {
    const size_t rows = static_cast<size_t>(shape.slots) * static_cast<size_t>(shape.rows);
    constexpr size_t most = SlotChoice::most;
    std::vector<int32_t> best(rows * most), best_timestamps(rows * most);
    std::vector<float> logits(rows * most), probabilities(rows * most), sums(rows);
    std::vector<float> timestamp_logits(rows * most), timestamp_probabilities(rows * most);
    get_tensor(graph.best, best);
    get_tensor(graph.best_logits, logits);
    get_tensor(graph.best_probabilities, probabilities);
    get_tensor(graph.best_timestamps, best_timestamps);
    get_tensor(graph.timestamp_logits, timestamp_logits);
    get_tensor(graph.timestamp_probabilities, timestamp_probabilities);
    get_tensor(graph.timestamp_sum, sums);
    // A device may give the best in any order.
    const auto sorted = [](SlotChoice::Token * tokens) {
        std::stable_sort(tokens, tokens + most, [](const auto & one, const auto & other) {
            return one.logit != other.logit ? one.logit > other.logit : one.id < other.id;
        });
    };
    for (const SlotStep & step : steps) {
        for (int index = 0; step.choices != nullptr && index < step.rows; ++index) {
            const size_t row = static_cast<size_t>(step.slot) * static_cast<size_t>(shape.rows) + static_cast<size_t>(index);
            SlotChoice & choice = step.choices[index];
            for (size_t k = 0; k < most; ++k) {
                const size_t at = row * most + k;
                choice.best[k] = {best[at], logits[at], probabilities[at]};
                choice.best_timestamps[k] = {best_timestamps[at], timestamp_logits[at], timestamp_probabilities[at]};
            }
            sorted(choice.best);
            sorted(choice.best_timestamps);
            choice.timestamps = sums[row];
        }
    }
}

void Slots::get_logits(const Graph & graph, const Shape & shape, const std::vector<SlotStep> & steps) const {
    const size_t row = graph.logits->nb[1];
    for (const SlotStep & step : steps) {
        if (step.logits != nullptr) {
            ggml_backend_tensor_get(graph.logits, step.logits, static_cast<size_t>(step.slot) * static_cast<size_t>(shape.rows) * row,
                                    static_cast<size_t>(step.rows) * row);
        }
    }
}

bool Slots::evaluate(const std::vector<SlotStep> & steps, int threads) {
    int slots = 1, rows = 1, cells = least_cells;
    for (const SlotStep & step : steps) {
        slots = std::max(slots, step.slot + 1);
        rows = std::max(rows, step.rows);
        cells = std::max(cells, step.cells);
    }
    const Shape shape = shape_for(slots, rows, cells);
    Graph & graph = graph_for(shape);
    set_inputs(graph, shape, steps);
    if (!graph.evaluate(backend_, threads)) {
        return false;
    }
    get_choices(graph, shape, steps);
    get_logits(graph, shape, steps);
    last_ = &graph;
    evaluations_.evaluated += 1;
    for (const SlotStep & step : steps) {
        evaluations_.items += step.rows;
    }
    return true;
}

uint64_t Slots::digest() const {
    uint64_t digest = 14695981039346656037ull;
    const auto add = [&](const void * data, size_t bytes) {
        for (size_t at = 0; at < bytes; ++at) {
            digest = (digest ^ static_cast<const uint8_t *>(data)[at]) * 1099511628211ull;
        }
    };
    for (int node = 0; last_ != nullptr && node < last_->nodes(); ++node) {
        const ggml_tensor * tensor = last_->node(node);
        add(&tensor, sizeof(tensor));
        add(tensor->ne, sizeof(tensor->ne));
        add(tensor->nb, sizeof(tensor->nb));
        add(tensor->op_params, sizeof(tensor->op_params));
        add(&tensor->data, sizeof(tensor->data));
        add(tensor->src, sizeof(tensor->src));
    }
    return digest;
}

}  // namespace transcribe
