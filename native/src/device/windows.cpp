#include "windows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <numeric>
#include <string>
#include <utility>

namespace transcribe {

struct Windows::Graph : DeviceGraph {
    ggml_tensor *spectrum = nullptr, *encoded = nullptr, *places = nullptr;
};

Windows::Windows(ggml_backend_t backend, EncoderWeights weights, const Slots & slots)
    : backend_(backend), weights_(std::move(weights)), slots_(slots), positions_(weights_.positions->ne[1]),
      width_(weights_.positions->ne[0]), context_(ggml_init({2 * ggml_tensor_overhead(), nullptr, true})) {
    const auto cache = [&] { return ggml_new_tensor_3d(context_.get(), GGML_TYPE_F16, width_, slots.cross().positions, most); };
    keys_ = cache();
    values_ = cache();
    buffer_ = allocate_zeros(context_.get(), backend, "to encode windows");
    // The largest graphs show whether the device has all operations and the memory.
    for (most_ = most;; most_ /= 2) {
        try {
            graph_for({most_, true});
            graph_for({most_, false});
            break;
        } catch (const std::exception &) {
            if (most_ == 1) {
                throw;
            }
        }
    }
}

Windows::~Windows() = default;

int64_t Windows::weight_bytes(bool encodes) const {
    size_t bytes = 0;
    const auto count = [&](const Linear & linear) { bytes += ggml_nbytes(linear.weight); };
    for (const DecoderWeights::Layer & layer : slots_.weights().layers) {
        count(layer.cross_key);
        count(layer.cross_value);
    }
    if (encodes) {
        count(weights_.first_convolution);
        count(weights_.second_convolution);
        for (const EncoderWeights::Layer & layer : weights_.layers) {
            for (const Linear & linear : {layer.query, layer.key, layer.value, layer.output, layer.mlp_input, layer.mlp_output}) {
                count(linear);
            }
        }
    }
    return static_cast<int64_t>(bytes);
}

// Returns the rows of the positions of all windows.
ggml_tensor * Windows::convolve(ggml_context * ctx, ggml_tensor * spectrum) const {
    const auto layer = [&](const Linear & convolution, ggml_tensor * input, int stride) {
        ggml_tensor * kernel = convolution.weight;
        ggml_tensor * columns = ggml_im2col(ctx, kernel, input, stride, 0, 1, 0, 1, 0, false, GGML_TYPE_F32);
        ggml_tensor * products = multiply(ctx, ggml_reshape_2d(ctx, kernel, kernel->ne[0] * kernel->ne[1], kernel->ne[2]),
                                          ggml_reshape_2d(ctx, columns, columns->ne[0], columns->ne[1] * columns->ne[2]));
        return ggml_gelu(ctx, ggml_add(ctx, products, ggml_reshape_1d(ctx, convolution.bias, width_)));
    };
    ggml_tensor * frames = layer(weights_.first_convolution, spectrum, 1);
    ggml_tensor * by_window = ggml_reshape_3d(ctx, frames, width_, spectrum->ne[0], spectrum->ne[2]);
    return layer(weights_.second_convolution, ggml_cont(ctx, ggml_permute(ctx, by_window, 1, 0, 2, 3)), 2);
}

ggml_tensor * Windows::attend_to_itself(Graph & graph, const EncoderWeights::Layer & layer, ggml_tensor * input, int windows) const {
    ggml_context * ctx = graph.context();
    ggml_tensor * queries = apply(ctx, layer.query, input);
    const auto store = [&](ggml_tensor * cache, const Linear & linear) {
        ggml_tensor * rows = ggml_reshape_3d(ctx, apply(ctx, linear, input), width_, positions_, windows);
        ggml_tensor * to = ggml_view_3d(ctx, cache, width_, positions_, windows, cache->nb[1], cache->nb[2], 0);
        graph.run(ggml_cpy(ctx, rows, to));
        return cache_by_heads(ctx, cache, weights_.heads, cache->ne[1], windows, cache->ne[1], 0);
    };
    ggml_tensor * keys = store(keys_, layer.key);
    ggml_tensor * values = store(values_, layer.value);
    const float scale = 1.0f / std::sqrt(static_cast<float>(width_ / weights_.heads));
    return apply(ctx, layer.output, attend(ctx, by_heads(ctx, queries, weights_.heads, windows), keys, values, nullptr, scale));
}

ggml_tensor * Windows::encode(Graph & graph, ggml_tensor * spectrum, int windows) const {
    ggml_context * ctx = graph.context();
    ggml_tensor * rows = ggml_reshape_3d(ctx, convolve(ctx, spectrum), width_, positions_, windows);
    ggml_tensor * stream = ggml_reshape_2d(ctx, ggml_add(ctx, rows, weights_.positions), width_, positions_ * windows);
    for (const EncoderWeights::Layer & layer : weights_.layers) {
        ggml_tensor * normal = normalize(ctx, layer.attention_norm, stream, weights_.epsilon);
        stream = ggml_add(ctx, attend_to_itself(graph, layer, normal, windows), stream);
        stream = add_feed_forward(ctx, layer.mlp_norm, layer.mlp_input, layer.mlp_output, weights_.epsilon, stream);
    }
    return normalize(ctx, weights_.norm, stream, weights_.epsilon);
}

std::unique_ptr<Windows::Graph> Windows::build(const Shape & shape) const {
    const auto [windows, encodes] = shape;
    auto graph = std::make_unique<Graph>();
    ggml_context * ctx = graph->context();
    const SlotCache & cross = slots_.cross();
    const int64_t bands = weights_.first_convolution.weight->ne[1];
    graph->places = graph->input(ggml_new_tensor_1d(ctx, GGML_TYPE_I64, positions_ * windows));
    if (encodes) {
        graph->spectrum = graph->input(ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 2 * positions_, bands, windows));
        graph->encoded = graph->output(encode(*graph, graph->spectrum, windows));
    } else {
        graph->encoded = graph->input(ggml_new_tensor_2d(ctx, GGML_TYPE_F32, width_, positions_ * windows));
    }
    const DecoderWeights & decoder = slots_.weights();
    const float scale = std::pow(static_cast<float>(width_ / decoder.heads), -0.25f);
    for (int64_t layer = 0; layer < cross.layers; ++layer) {
        const DecoderWeights::Layer & weights = decoder.layers[static_cast<size_t>(layer)];
        cross.store(*graph, layer, ggml_scale(ctx, apply(ctx, weights.cross_key, graph->encoded), scale),
                    apply(ctx, weights.cross_value, graph->encoded), graph->places);
    }
    graph->allocate(backend_, "to encode " + std::to_string(windows) + " windows at once");
    return graph;
}

Windows::Graph & Windows::graph_for(const Shape & shape) {
    return graphs_.at(shape, evaluations_, [this](const Shape & missing) { return build(missing); });
}

bool Windows::evaluate(const std::vector<SlotWindow> & windows, int threads, ggml_abort_callback should_end, void * data) {
    return evaluate_in_groups(windows, most_, [&](const std::vector<SlotWindow> & group) {
        return evaluate_graph(group, threads, should_end, data);
    });
}

bool Windows::evaluate_graph(const std::vector<SlotWindow> & windows, int threads, ggml_abort_callback should_end, void * data) {
    const bool encodes = windows.front().spectrum != nullptr;
    const int size = next_power_of_two(static_cast<int>(windows.size()));
    Graph & graph = graph_for({size, encodes});
    ggml_tensor * input = encodes ? graph.spectrum : graph.encoded;
    const size_t bytes = ggml_nbytes(input) / static_cast<size_t>(size);
    const SlotCache & cross = slots_.cross();
    const std::vector<uint8_t> silence(bytes);
    std::vector<int64_t> places(static_cast<size_t>(positions_ * size));
    for (size_t index = 0; index < static_cast<size_t>(size); ++index) {
        const bool is_asked_for = index < windows.size();
        const int64_t first = cross.first_row(is_asked_for ? windows[index].slot : slots_.spare(), 0);
        std::iota(places.begin() + static_cast<std::ptrdiff_t>(index) * positions_,
                  places.begin() + static_cast<std::ptrdiff_t>(index + 1) * positions_, first);
        const void * numbers = silence.data();
        if (is_asked_for) {
            numbers = encodes ? windows[index].spectrum : windows[index].output;
        }
        ggml_backend_tensor_set(input, numbers, index * bytes, bytes);
    }
    set_tensor(graph.places, places);
    if (!graph.evaluate(backend_, threads, should_end, data)) {
        return false;
    }
    const size_t output_bytes = ggml_nbytes(graph.encoded) / static_cast<size_t>(size);
    for (size_t index = 0; encodes && index < windows.size(); ++index) {
        if (windows[index].output != nullptr) {
            ggml_backend_tensor_get(graph.encoded, windows[index].output, index * output_bytes, output_bytes);
        }
    }
    evaluations_.evaluated += 1;
    evaluations_.items += static_cast<int64_t>(windows.size());
    return true;
}

}  // namespace transcribe
