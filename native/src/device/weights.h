#pragma once

#include <ggml.h>

#include <vector>

namespace transcribe {

// Weights of a Whisper model: tensors in the memory of one device.

struct Linear {
    ggml_tensor * weight;
    ggml_tensor * bias; // nullptr: none
};

struct EncoderWeights {
    struct Layer {
        Linear attention_norm, query, key, value, output;
        Linear mlp_norm, mlp_input, mlp_output;
    };

    Linear first_convolution, second_convolution;
    ggml_tensor * positions;
    std::vector<Layer> layers;
    Linear norm;
    int heads;
    float epsilon;
};

struct DecoderWeights {
    struct Layer {
        Linear self_norm, query, key, value, self_output;
        // Keys and values are those of the encoder's output.
        Linear cross_norm, cross_query, cross_key, cross_value, cross_output;
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

}  // namespace transcribe
