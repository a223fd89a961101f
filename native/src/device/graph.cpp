#include "graph.h"

#include <stdexcept>

namespace transcribe {

namespace {

constexpr size_t most_nodes = 4096;

template <typename Function> Function procedure(ggml_backend_t backend, const char * name) {
    ggml_backend_reg_t library = ggml_backend_dev_backend_reg(ggml_backend_get_device(backend));
    return reinterpret_cast<Function>(ggml_backend_reg_get_proc_address(library, name));
}

}  // namespace

DeviceGraph::DeviceGraph()
    : context_(ggml_init({most_nodes * ggml_tensor_overhead() + ggml_graph_overhead_custom(most_nodes, false), nullptr, true})),
      graph_(ggml_new_graph_custom(context_.get(), most_nodes, false)) {}

ggml_tensor * DeviceGraph::input(ggml_tensor * tensor) {
    ggml_set_input(tensor);
    return tensor;
}

ggml_tensor * DeviceGraph::lasting_input(ggml_tensor * tensor) {
    ggml_set_input(tensor);
    // The memory of an output is not used again.
    ggml_set_output(tensor);
    return tensor;
}

ggml_tensor * DeviceGraph::output(ggml_tensor * tensor) {
    ggml_set_output(tensor);
    run(tensor);
    return tensor;
}

void DeviceGraph::run(ggml_tensor * operation) {
    ggml_build_forward_expand(graph_, operation);
}

void DeviceGraph::allocate(ggml_backend_t backend, const std::string & purpose) {
    for (int index = 0; index < nodes(); ++index) {
        const ggml_tensor * operation = node(index);
        if (!ggml_backend_supports_op(backend, operation)) {
            throw std::runtime_error(std::string("the device lacks the operation ") + ggml_op_desc(operation));
        }
    }
    memory_.reset(ggml_gallocr_new(ggml_backend_get_default_buffer_type(backend)));
    if (!ggml_gallocr_alloc_graph(memory_.get(), graph_)) {
        throw std::runtime_error("memory is short " + purpose);
    }
}

bool DeviceGraph::evaluate(ggml_backend_t backend, int threads, ggml_abort_callback should_end, void * data) {
    // Only a CPU has threads, and can end a graph.
    if (const auto set = procedure<ggml_backend_set_n_threads_t>(backend, "ggml_backend_set_n_threads")) {
        set(backend, threads);
    }
    const auto set_abort = procedure<ggml_backend_set_abort_callback_t>(backend, "ggml_backend_set_abort_callback");
    if (set_abort != nullptr) {
        set_abort(backend, should_end, data);
    }
    const bool succeeded = ggml_backend_graph_compute(backend, graph_) == GGML_STATUS_SUCCESS;
    if (set_abort != nullptr) {
        set_abort(backend, nullptr, nullptr);
    }
    return succeeded;
}

ggml_backend_buffer_ptr allocate_zeros(ggml_context * context, ggml_backend_t backend, const std::string & purpose) {
    ggml_backend_buffer_ptr buffer(ggml_backend_alloc_ctx_tensors(context, backend));
    if (buffer == nullptr) {
        throw std::runtime_error("memory is short " + purpose);
    }
    ggml_backend_buffer_clear(buffer.get(), 0);
    return buffer;
}

int next_power_of_two(int number) {
    int power = 1;
    while (power < number) {
        power *= 2;
    }
    return power;
}

ggml_tensor * multiply(ggml_context * context, ggml_tensor * weight, ggml_tensor * input) {
    ggml_tensor * product = ggml_mul_mat(context, weight, input);
    ggml_mul_mat_set_prec(product, GGML_PREC_F32);
    return product;
}

ggml_tensor * apply(ggml_context * context, const Linear & linear, ggml_tensor * input) {
    ggml_tensor * product = multiply(context, linear.weight, input);
    return linear.bias == nullptr ? product : ggml_add(context, product, linear.bias);
}

ggml_tensor * normalize(ggml_context * context, const Linear & norm, ggml_tensor * input, float epsilon) {
    return ggml_add(context, ggml_mul(context, ggml_norm(context, input, epsilon), norm.weight), norm.bias);
}

ggml_tensor * add_feed_forward(ggml_context * context, const Linear & norm, const Linear & input, const Linear & output, float epsilon,
                               ggml_tensor * stream) {
    ggml_tensor * inner = ggml_gelu(context, apply(context, input, normalize(context, norm, stream, epsilon)));
    return ggml_add(context, apply(context, output, inner), stream);
}

ggml_tensor * decode(ggml_context * context, const DecoderWeights & weights, ggml_tensor * tokens, ggml_tensor * positions, int64_t layers,
                     const Attend & attend_to_text, const Attend & attend_to_audio) {
    ggml_tensor * stream =
        ggml_add(context, ggml_get_rows(context, weights.tokens, tokens), ggml_get_rows(context, weights.positions, positions));
    for (int64_t index = 0; index < layers; ++index) {
        const DecoderWeights::Layer & layer = weights.layers[static_cast<size_t>(index)];
        const auto normal = [&](const Linear & norm) { return normalize(context, norm, stream, weights.epsilon); };
        stream = ggml_add(context, attend_to_text(normal(layer.self_norm), index), stream);
        stream = ggml_add(context, attend_to_audio(normal(layer.cross_norm), index), stream);
        stream = add_feed_forward(context, layer.mlp_norm, layer.mlp_input, layer.mlp_output, weights.epsilon, stream);
    }
    return stream;
}

ggml_tensor * attend(ggml_context * context, ggml_tensor * queries, ggml_tensor * keys, ggml_tensor * values, ggml_tensor * mask,
                     float scale) {
    ggml_tensor * attended =
        ggml_flash_attn_ext(context, ggml_permute(context, queries, 0, 2, 1, 3), keys, values, mask, scale, 0.0f, 0.0f);
    ggml_flash_attn_ext_set_prec(attended, GGML_PREC_F32);
    return ggml_reshape_2d(context, attended, queries->ne[0] * queries->ne[1], queries->ne[2] * queries->ne[3]);
}

ggml_tensor * by_heads(ggml_context * context, ggml_tensor * rows, int64_t heads, int64_t windows) {
    return ggml_reshape_4d(context, rows, rows->ne[0] / heads, heads, rows->ne[1] / windows, windows);
}

ggml_tensor * cache_by_heads(ggml_context * context, ggml_tensor * cache, int64_t heads, int64_t positions, int64_t windows,
                             int64_t rows, int64_t first_row) {
    const int64_t head_width = cache->ne[0] / heads;
    const size_t row = cache->nb[1];
    return ggml_view_4d(context, cache, head_width, positions, heads, windows, row,
                        static_cast<size_t>(head_width) * ggml_element_size(cache), row * static_cast<size_t>(rows),
                        row * static_cast<size_t>(first_row));
}

}  // namespace transcribe
