#include "conformer-weights.h"

#if defined(__x86_64__)

#include "conformer-products.h"

#include <ggml-backend.h>
#include <ggml.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace transcribe {

namespace {

// NeMo's value for all normalizations.
constexpr float epsilon = 1e-5f;

constexpr const char * input_name = "encoder.pre_encode.out.weight";

struct Unfit : std::runtime_error {
    explicit Unfit(const std::string & name) : std::runtime_error(name) {}
};

struct Reader {
    parakeet_context * context;
    ProductKind kind;
    std::vector<const ggml_tensor *> & matrices; // all that were read

    const ggml_tensor * tensor(const std::string & name) const {
        const ggml_tensor * found = parakeet_get_model_tensor(context, name.c_str());
        // A GPU's memory is no host memory; other buffers of a CPU have layouts of their own.
        if (found == nullptr || found->buffer == nullptr ||
            ggml_backend_buffer_get_type(found->buffer) != ggml_backend_cpu_buffer_type()) {
            throw Unfit(name);
        }
        return found;
    }

    const float * floats(const std::string & name) const {
        const ggml_tensor * found = tensor(name);
        if (found->type != GGML_TYPE_F32) {
            throw Unfit(name);
        }
        return static_cast<const float *>(found->data);
    }

    const ggml_tensor * matrix(const std::string & name) const {
        const ggml_tensor * found = tensor(name);
        const bool fits = kind == ProductKind::bfloat16 ? can_pack(found) : can_multiply(found);
        if (!fits || found->ne[0] % block_width != 0 || found->ne[1] % panel_outputs != 0) {
            throw Unfit(name);
        }
        matrices.push_back(found);
        return found;
    }

    Norm norm(const std::string & name) const {
        return {floats(name + ".weight"), floats(name + ".bias")};
    }

    ConformerWeights::FeedForward feed_forward(const std::string & layer, const std::string & number) const {
        const std::string prefix = layer + "feed_forward" + number;
        return {norm(layer + "norm_feed_forward" + number), matrix(prefix + ".linear1.weight"),
                matrix(prefix + ".linear2.weight")};
    }

    ConformerWeights::Layer layer(const std::string & prefix, size_t width, size_t kernel) const {
        const std::string attention = prefix + "self_attn.";
        const std::string convolution = prefix + "conv.";
        ConformerWeights::Layer layer{
            {feed_forward(prefix, "1"), feed_forward(prefix, "2")},
            norm(prefix + "norm_self_att"),
            {matrix(attention + "linear_q.weight"), matrix(attention + "linear_k.weight"), matrix(attention + "linear_v.weight")},
            matrix(attention + "linear_pos.weight"),
            matrix(attention + "linear_out.weight"),
            floats(attention + "pos_bias_u"),
            floats(attention + "pos_bias_v"),
            norm(prefix + "norm_conv"),
            matrix(convolution + "pointwise_conv1.weight"),
            buffer<float>(kernel * width),
            buffer<float>(width),
            matrix(convolution + "pointwise_conv2.weight"),
            norm(prefix + "norm_out"),
        };
        const Norm batch = norm(convolution + "batch_norm");
        const float * mean = floats(convolution + "batch_norm.running_mean");
        const float * variance = floats(convolution + "batch_norm.running_var");
        const float * depthwise = floats(convolution + "depthwise_conv.weight");
        for (size_t channel = 0; channel < width; channel++) {
            const float scale = batch.weight[channel] / std::sqrt(variance[channel] + epsilon);
            for (size_t k = 0; k < kernel; k++) {
                layer.depthwise[k * width + channel] = depthwise[channel * kernel + k] * scale;
            }
            layer.depthwise_bias[channel] = batch.bias[channel] - mean[channel] * scale;
        }
        return layer;
    }

    Subsampling::Weights subsampling() const {
        const auto part = [&](const char * name) { return floats(std::string("encoder.pre_encode.conv.") + name); };
        return {part("0.weight"), part("0.bias"),
                {part("2.weight"), part("5.weight")}, {part("2.bias"), part("5.bias")},
                {part("3.weight"), part("6.weight")}, {part("3.bias"), part("6.bias")}};
    }
};

}  // namespace

std::unique_ptr<ConformerWeights> ConformerWeights::read(parakeet_context * context, ProductKinds kinds) {
    try {
        const ggml_tensor * input = parakeet_get_model_tensor(context, input_name);
        const bool is_bfloat16 = input != nullptr && can_pack(input);
        if (is_bfloat16 ? !kinds.bfloat16 : !kinds.bytes) {
            return nullptr;
        }
        auto weights = std::make_unique<ConformerWeights>();
        weights->kind = is_bfloat16 ? ProductKind::bfloat16 : ProductKind::bytes;
        std::vector<const ggml_tensor *> matrices;
        const Reader reader{context, weights->kind, matrices};
        weights->width = static_cast<size_t>(parakeet_model_n_audio_state(context));
        weights->heads = static_cast<size_t>(parakeet_model_n_audio_head(context));
        weights->mels = static_cast<size_t>(parakeet_model_n_mels(context));
        weights->kernel = static_cast<size_t>(reader.tensor("encoder.layers.0.conv.depthwise_conv.weight")->ne[0]);
        const auto channels = static_cast<size_t>(reader.tensor("encoder.pre_encode.conv.3.weight")->ne[3]);
        // 16 numbers are computed at once, and products have blocks of 32.
        if (weights->width % block_width != 0 || weights->width / weights->heads % 16 != 0 || channels % 16 != 0) {
            return nullptr;
        }
        weights->subsampling = std::make_unique<Subsampling>(reader.subsampling(), channels, weights->mels);
        weights->input = reader.matrix(input_name);
        weights->input_bias = reader.floats("encoder.pre_encode.out.bias");
        for (int layer = 0; layer < parakeet_model_n_audio_layer(context); layer++) {
            const std::string prefix = "encoder.layers." + std::to_string(layer) + ".";
            weights->layers.push_back(reader.layer(prefix, weights->width, weights->kernel));
        }
        // Only now that everything fits: parakeet.cpp's own encoder cannot use packed matrices.
        if (is_bfloat16) {
            std::for_each(matrices.begin(), matrices.end(), pack_matrix);
        }
        return weights;
    } catch (const Unfit &) {
        return nullptr;
    }
}

}  // namespace transcribe

#endif
