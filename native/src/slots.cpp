#include "slots.h"

#include <ggml-alloc.h>
#include <ggml-cpp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <tuple>

namespace transcribe {

namespace {

constexpr size_t most_nodes = 2048;
// Fewest positions of a cache that a graph reads. Half of all steps need no more.
constexpr int least_cells = 256;

int next_power_of_two(int number) {
    int power = 1;
    while (power < number) {
        power *= 2;
    }
    return power;
}

// Only a CPU has threads.
void set_threads(ggml_backend_t backend, int threads) {
    ggml_backend_reg_t library = ggml_backend_dev_backend_reg(ggml_backend_get_device(backend));
    const auto set = reinterpret_cast<ggml_backend_set_n_threads_t>(ggml_backend_reg_get_proc_address(library, "ggml_backend_set_n_threads"));
    if (set != nullptr) {
        set(backend, threads);
    }
}

// Sums have 32 bits, as in whisper.cpp's own graphs.
ggml_tensor * multiply(ggml_context * ctx, ggml_tensor * weight, ggml_tensor * input) {
    ggml_tensor * product = ggml_mul_mat(ctx, weight, input);
    ggml_mul_mat_set_prec(product, GGML_PREC_F32);
    return product;
}

ggml_tensor * apply(ggml_context * ctx, const DecoderWeights::Linear & linear, ggml_tensor * input) {
    ggml_tensor * product = multiply(ctx, linear.weight, input);
    return linear.bias == nullptr ? product : ggml_add(ctx, product, linear.bias);
}

ggml_tensor * normalize(ggml_context * ctx, const DecoderWeights::Linear & norm, ggml_tensor * input, float epsilon) {
    return ggml_add(ctx, ggml_mul(ctx, ggml_norm(ctx, input, epsilon), norm.weight), norm.bias);
}

}  // namespace

bool Slots::Shape::operator<(const Shape & other) const {
    return std::tie(slots, rows, cells) < std::tie(other.slots, other.rows, other.cells);
}

struct Slots::Graph {
    ggml_context_ptr context;
    ggml_cgraph * graph = nullptr;
    ggml_gallocr_ptr memory;
    // Inputs. Texts look at the positions of the cache that `visible` does not mask.
    ggml_tensor *tokens = nullptr, *positions = nullptr, *places = nullptr, *visible = nullptr, *masks = nullptr,
                *timestamps = nullptr;
    // Outputs.
    ggml_tensor *best = nullptr, *best_logits = nullptr, *best_probabilities = nullptr;
    ggml_tensor *best_timestamps = nullptr, *timestamp_logits = nullptr, *timestamp_probabilities = nullptr;
    ggml_tensor * timestamp_sum = nullptr;
    // Whether the input `timestamps` forbids any.
    bool is_bounded = true;
};

Slots::Slots(ggml_backend_t backend, DecoderWeights weights, const std::vector<std::vector<float>> & masks, int slots, int cells,
             int audio_positions)
    : backend_(backend), weights_(std::move(weights)), slots_(slots), cells_(cells), audio_positions_(audio_positions),
      width_(weights_.tokens->ne[0]), vocabulary_(weights_.tokens->ne[1]), context_(nullptr, ggml_free),
      buffer_(nullptr, ggml_backend_buffer_free) {
    context_.reset(ggml_init({8 * ggml_tensor_overhead(), nullptr, true}));
    const auto layers = static_cast<int64_t>(weights_.layers.size());
    // One more than the slots: rows that nobody asked for are stored there.
    const auto cache = [&](int64_t positions) {
        return ggml_new_tensor_2d(context_.get(), GGML_TYPE_F16, width_, layers * positions * (slots + 1));
    };
    self_ = {cache(cells), cache(cells)};
    cross_ = {cache(audio_positions), cache(audio_positions)};
    masks_ = ggml_new_tensor_2d(context_.get(), GGML_TYPE_F32, vocabulary_, static_cast<int64_t>(masks.size()));
    buffer_.reset(ggml_backend_alloc_ctx_tensors(context_.get(), backend));
    if (buffer_ == nullptr) {
        throw std::runtime_error("memory is short for the texts of " + std::to_string(slots) + " windows");
    }
    ggml_backend_buffer_clear(buffer_.get(), 0);
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

SlotCaches Slots::part(ggml_context * context, const SlotCaches & caches, int slot, int64_t positions) const {
    const int64_t numbers = static_cast<int64_t>(weights_.layers.size()) * positions * width_;
    const auto view = [&](ggml_tensor * cache) {
        ggml_tensor * own = ggml_view_1d(context, cache, numbers, static_cast<size_t>(slot * numbers) * ggml_element_size(cache));
        ggml_backend_view_init(own);
        return own;
    };
    return {view(caches.keys), view(caches.values)};
}

SlotCaches Slots::self(ggml_context * context, int slot) const {
    return part(context, self_, slot, cells_);
}

SlotCaches Slots::cross(ggml_context * context, int slot) const {
    return part(context, cross_, slot, audio_positions_);
}

// A layer's keys or values of the first slots, by heads: the first `used` of `all` positions.
ggml_tensor * Slots::layer_of(ggml_context * context, ggml_tensor * cache, const Shape & shape, int layer, int64_t all,
                              int64_t used) const {
    const int64_t head_width = width_ / weights_.heads;
    const size_t row = cache->nb[1];
    const size_t layer_bytes = static_cast<size_t>(all) * row;
    return ggml_view_4d(context, cache, head_width, used, weights_.heads, shape.slots, row,
                        static_cast<size_t>(head_width) * ggml_element_size(cache), layer_bytes * weights_.layers.size(),
                        layer_bytes * static_cast<size_t>(layer));
}

ggml_tensor * Slots::attend_to_texts(Graph & graph, const Shape & shape, ggml_tensor * input, int layer) const {
    ggml_context * ctx = graph.context.get();
    const DecoderWeights::Layer & weights = weights_.layers[static_cast<size_t>(layer)];
    const int64_t head_width = width_ / weights_.heads;
    const float scale = std::pow(static_cast<float>(head_width), -0.25f);
    ggml_tensor * queries = ggml_scale(ctx, apply(ctx, weights.query, input), scale);
    ggml_tensor * keys = ggml_scale(ctx, apply(ctx, weights.key, input), scale);
    ggml_tensor * values = apply(ctx, weights.value, input);
    const auto store = [&](ggml_tensor * cache, ggml_tensor * rows) {
        const size_t first = static_cast<size_t>(layer) * static_cast<size_t>(cells_) * cache->nb[1];
        const int64_t left = cache->ne[1] - static_cast<int64_t>(layer) * cells_;
        ggml_tensor * from = ggml_view_2d(ctx, cache, width_, left, cache->nb[1], first);
        ggml_build_forward_expand(graph.graph, ggml_set_rows(ctx, from, rows, graph.places));
    };
    store(self_.keys, keys);
    store(self_.values, values);
    ggml_tensor * by_slot = ggml_reshape_4d(ctx, queries, head_width, weights_.heads, shape.rows, shape.slots);
    ggml_tensor * attended = ggml_flash_attn_ext(ctx, ggml_permute(ctx, by_slot, 0, 2, 1, 3),
                                                 layer_of(ctx, self_.keys, shape, layer, cells_, shape.cells),
                                                 layer_of(ctx, self_.values, shape, layer, cells_, shape.cells), graph.visible,
                                                 1.0f, 0.0f, 0.0f);
    return apply(ctx, weights.self_output, ggml_reshape_2d(ctx, attended, width_, shape.rows * shape.slots));
}

ggml_tensor * Slots::attend_to_audio(Graph & graph, const Shape & shape, ggml_tensor * input, int layer) const {
    ggml_context * ctx = graph.context.get();
    const DecoderWeights::Layer & weights = weights_.layers[static_cast<size_t>(layer)];
    const int64_t head_width = width_ / weights_.heads;
    const float scale = std::pow(static_cast<float>(head_width), -0.25f);
    ggml_tensor * queries =
        ggml_reshape_4d(ctx, apply(ctx, weights.cross_query, input), head_width, weights_.heads, shape.rows, shape.slots);
    ggml_tensor * attended =
        ggml_flash_attn_ext(ctx, ggml_permute(ctx, queries, 0, 2, 1, 3),
                            layer_of(ctx, cross_.keys, shape, layer, audio_positions_, audio_positions_),
                            layer_of(ctx, cross_.values, shape, layer, audio_positions_, audio_positions_), nullptr, scale, 0.0f, 0.0f);
    return apply(ctx, weights.cross_output, ggml_reshape_2d(ctx, attended, width_, shape.rows * shape.slots));
}

void Slots::choose(Graph & graph, ggml_tensor * logits) const {
    ggml_context * ctx = graph.context.get();
    const int64_t rows = logits->ne[1];
    const int64_t first = weights_.first_timestamp;
    const int64_t timestamps = vocabulary_ - first;
    ggml_tensor * allowed = ggml_add(ctx, logits, ggml_get_rows(ctx, masks_, graph.masks));
    const auto of_timestamps = [&](ggml_tensor * all) {
        return ggml_view_2d(ctx, all, timestamps, rows, all->nb[1], static_cast<size_t>(first) * all->nb[0]);
    };
    // In place: what reads all logits comes after it in the graph.
    ggml_build_forward_expand(graph.graph, ggml_add_inplace(ctx, of_timestamps(allowed), graph.timestamps));
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
        ggml_set_output(output);
        ggml_build_forward_expand(graph.graph, output);
    }
}

std::unique_ptr<Slots::Graph> Slots::build(const Shape & shape) const {
    auto graph = std::make_unique<Graph>();
    graph->context.reset(ggml_init({most_nodes * ggml_tensor_overhead() + ggml_graph_overhead_custom(most_nodes, false), nullptr, true}));
    ggml_context * ctx = graph->context.get();
    graph->graph = ggml_new_graph_custom(ctx, most_nodes, false);
    const int64_t rows = static_cast<int64_t>(shape.slots) * shape.rows;
    const auto input = [](ggml_tensor * tensor) {
        ggml_set_input(tensor);
        return tensor;
    };
    graph->tokens = input(ggml_new_tensor_1d(ctx, GGML_TYPE_I32, rows));
    graph->positions = input(ggml_new_tensor_1d(ctx, GGML_TYPE_I32, rows));
    graph->places = input(ggml_new_tensor_1d(ctx, GGML_TYPE_I64, rows));
    graph->masks = input(ggml_new_tensor_1d(ctx, GGML_TYPE_I32, rows));
    graph->visible = input(ggml_new_tensor_4d(ctx, GGML_TYPE_F16, shape.cells, shape.rows, 1, shape.slots));
    graph->timestamps = input(ggml_new_tensor_2d(ctx, GGML_TYPE_F32, vocabulary_ - weights_.first_timestamp, rows));
    // The memory of an output is not used again: this input stays from step to step.
    ggml_set_output(graph->timestamps);

    ggml_tensor * stream = ggml_add(ctx, ggml_get_rows(ctx, weights_.tokens, graph->tokens),
                                    ggml_get_rows(ctx, weights_.positions, graph->positions));
    for (size_t layer = 0; layer < weights_.layers.size(); ++layer) {
        const DecoderWeights::Layer & weights = weights_.layers[layer];
        const auto normal = [&](const DecoderWeights::Linear & norm) { return normalize(ctx, norm, stream, weights_.epsilon); };
        stream = ggml_add(ctx, attend_to_texts(*graph, shape, normal(weights.self_norm), static_cast<int>(layer)), stream);
        stream = ggml_add(ctx, attend_to_audio(*graph, shape, normal(weights.cross_norm), static_cast<int>(layer)), stream);
        ggml_tensor * inner = ggml_gelu(ctx, apply(ctx, weights.mlp_input, normal(weights.mlp_norm)));
        stream = ggml_add(ctx, apply(ctx, weights.mlp_output, inner), stream);
    }
    choose(*graph, multiply(ctx, weights_.tokens, normalize(ctx, weights_.norm, stream, weights_.epsilon)));

    for (int node = 0; node < ggml_graph_n_nodes(graph->graph); ++node) {
        const ggml_tensor * operation = ggml_graph_node(graph->graph, node);
        if (!ggml_backend_supports_op(backend_, operation)) {
            throw std::runtime_error(std::string("the device lacks the operation ") + ggml_op_desc(operation));
        }
    }
    graph->memory.reset(ggml_gallocr_new(ggml_backend_get_default_buffer_type(backend_)));
    if (!ggml_gallocr_alloc_graph(graph->memory.get(), graph->graph)) {
        throw std::runtime_error("memory is short to decode " + std::to_string(shape.slots) + " windows at once");
    }
    return graph;
}

Slots::Shape Slots::shape_for(int slots, int rows, int cells) const {
    return {std::min(next_power_of_two(slots), slots_ + 1), rows == 1 ? 1 : most_rows, std::min(next_power_of_two(cells), cells_)};
}

Slots::Graph & Slots::graph_for(const Shape & shape) {
    auto & known = graphs_[shape];
    if (known == nullptr) {
        try {
            known = build(shape);
            built_ += 1;
        } catch (...) {
            graphs_.erase(shape);
            throw;
        }
    }
    return *known;
}

void Slots::set_inputs(Graph & graph, const Shape & shape, const std::vector<SlotStep> & steps) const {
    const size_t rows = static_cast<size_t>(shape.slots) * static_cast<size_t>(shape.rows);
    const auto layers = static_cast<int64_t>(weights_.layers.size());
    const int64_t timestamps = graph.timestamps->ne[0];
    const ggml_fp16_t hidden = ggml_fp32_to_fp16(-INFINITY);
    std::vector<int32_t> tokens(rows, 0), positions(rows, 0), masks(rows, 0);
    std::vector<int64_t> places(rows, slots_ * layers * cells_);
    std::vector<ggml_fp16_t> visible(rows * static_cast<size_t>(shape.cells), hidden);
    const bool is_bounded = std::any_of(steps.begin(), steps.end(), [](const SlotStep & step) {
        return std::any_of(step.rules, step.rules + step.rows, [](const SlotRule & rule) { return rule.first_timestamp > 0; });
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
            masks[row] = step.rules[index].mask;
            places[row] = step.slot * layers * cells_ + step.first_cell + index;
            ggml_fp16_t * seen = visible.data() + row * static_cast<size_t>(shape.cells);
            const std::vector<bool> & of_row = step.visible[index];
            for (size_t cell = 0; cell < of_row.size(); ++cell) {
                seen[cell] = of_row[cell] ? 0 : hidden;
            }
            if (is_bounded) {
                float * bound = bounds.data() + row * static_cast<size_t>(timestamps);
                std::fill_n(bound, std::clamp<int64_t>(step.rules[index].first_timestamp, 0, timestamps), -INFINITY);
            }
        }
    }
    const auto set = [](ggml_tensor * tensor, const auto & numbers) {
        ggml_backend_tensor_set(tensor, numbers.data(), 0, ggml_nbytes(tensor));
    };
    set(graph.tokens, tokens);
    set(graph.positions, positions);
    set(graph.places, places);
    set(graph.masks, masks);
    set(graph.visible, visible);
    if (sets_bounds) {
        set(graph.timestamps, bounds);
        graph.is_bounded = is_bounded;
    }
}

void Slots::get_choices(const Graph & graph, const Shape & shape, const std::vector<SlotStep> & steps) {
    const size_t rows = static_cast<size_t>(shape.slots) * static_cast<size_t>(shape.rows);
    const auto get = [](const ggml_tensor * tensor, auto & numbers) {
        ggml_backend_tensor_get(tensor, numbers.data(), 0, ggml_nbytes(tensor));
    };
    constexpr size_t most = SlotChoice::most;
    std::vector<int32_t> best(rows * most), best_timestamps(rows * most);
    std::vector<float> logits(rows * most), probabilities(rows * most), sums(rows);
    std::vector<float> timestamp_logits(rows * most), timestamp_probabilities(rows * most);
    get(graph.best, best);
    get(graph.best_logits, logits);
    get(graph.best_probabilities, probabilities);
    get(graph.best_timestamps, best_timestamps);
    get(graph.timestamp_logits, timestamp_logits);
    get(graph.timestamp_probabilities, timestamp_probabilities);
    get(graph.timestamp_sum, sums);
    // A device may give the best in any order.
    const auto sorted = [](SlotChoice::Token * tokens) {
        std::stable_sort(tokens, tokens + most, [](const auto & one, const auto & other) {
            return one.logit != other.logit ? one.logit > other.logit : one.id < other.id;
        });
    };
    for (const SlotStep & step : steps) {
        for (int index = 0; index < step.rows; ++index) {
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
    set_threads(backend_, threads);
    if (ggml_backend_graph_compute(backend_, graph.graph) != GGML_STATUS_SUCCESS) {
        return false;
    }
    get_choices(graph, shape, steps);
    last_ = &graph;
    evaluated_ += 1;
    for (const SlotStep & step : steps) {
        rows_ += step.rows;
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
    for (int node = 0; last_ != nullptr && node < ggml_graph_n_nodes(last_->graph); ++node) {
        const ggml_tensor * tensor = ggml_graph_node(last_->graph, node);
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
