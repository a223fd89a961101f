#pragma once

#include "checks.h"
#include "kernels/quantized.h"

#include <ggml.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

namespace checks {

// Numbers of a matrix of rows, by row and column.
struct Pattern {
    const char * name;
    std::function<float(size_t row, size_t column)> number;
};

// Numbers to multiply, with the extremes of the forms in bytes.
inline std::vector<Pattern> input_patterns(Random & random) {
    return {
        {"random", [&](size_t, size_t) { return random.normal(); }},
        {"zeros", [](size_t, size_t) { return 0.0f; }},
        {"the same", [](size_t row, size_t) { return 3.0f + static_cast<float>(row); }},
        {"the same below zero", [](size_t row, size_t) { return -3.0f - static_cast<float>(row); }},
        // With the smallest number stored as 0, others are stored as the largest byte.
        {"largest but one", [](size_t, size_t column) { return column % 32 == 5 ? 0.0f : 3.0f; }},
        {"smallest but one", [](size_t, size_t column) { return column % 32 == 5 ? 3.0f : -3.0f; }},
        {"alternating signs", [](size_t row, size_t column) { return (row + column) % 2 == 0 ? 3.0f : -3.0f; }},
        {"pairs of alternating signs", [](size_t row, size_t column) { return (row + column / 2) % 2 == 0 ? 3.0f : -3.0f; }},
        {"one large", [&](size_t, size_t column) { return column % 32 == 17 ? 1e4f : random.normal(); }},
        {"huge", [&](size_t, size_t) { return 1e20f * random.normal(); }},
        {"tiny", [&](size_t, size_t) { return 1e-30f * random.normal(); }},
        {"below the smallest normal", [&](size_t, size_t) { return 1e-41f * random.normal(); }},
    };
}

// Bytes of quantized weights.
struct Bytes {
    const char * name;
    bool has_scale;
    std::function<uint8_t(ggml_type type, size_t at)> byte;
};

inline uint8_t largest_byte(ggml_type type) {
    return type == GGML_TYPE_Q8_0 ? 0x7f : 0xff;
}

inline uint8_t smallest_byte(ggml_type type) {
    return type == GGML_TYPE_Q8_0 ? 0x80 : 0;
}

inline std::vector<Bytes> weight_patterns(Random & random) {
    return {
        {"random", true, [&](ggml_type, size_t) { return static_cast<uint8_t>(random.bits()); }},
        {"largest", true, [](ggml_type type, size_t) { return largest_byte(type); }},
        {"smallest", true, [](ggml_type type, size_t) { return smallest_byte(type); }},
        {"-127", true, [](ggml_type, size_t) { return static_cast<uint8_t>(-127); }},
        {"alternating", true, [](ggml_type type, size_t at) { return at % 2 == 0 ? largest_byte(type) : smallest_byte(type); }},
        {"zero", false, [&](ggml_type, size_t) { return static_cast<uint8_t>(random.bits()); }},
    };
}

// A matrix in one of ggml's forms, and the same weights in floats, which ggml computes.
struct Matrix {
    ggml_tensor tensor{};
    std::vector<uint8_t> bytes;
    std::vector<float> floats;

    Matrix(ggml_type type, size_t rows, size_t width, const Bytes & pattern, Random & random) : floats(rows * width) {
        const size_t row_bytes = ggml_row_size(type, static_cast<int64_t>(width));
        const size_t block_bytes = ggml_type_size(type);
        bytes.resize(rows * row_bytes);
        for (size_t block = 0; block < bytes.size(); block += block_bytes) {
            const ggml_fp16_t scale = ggml_fp32_to_fp16(pattern.has_scale ? 0.1f * random.normal() : 0.0f);
            std::memcpy(&bytes[block], &scale, sizeof scale);
            for (size_t at = sizeof scale; at < block_bytes; at++) {
                bytes[block + at] = pattern.byte(type, at);
            }
        }
        tensor.type = type;
        tensor.ne[0] = static_cast<int64_t>(width);
        tensor.ne[1] = static_cast<int64_t>(rows);
        tensor.nb[1] = row_bytes;
        tensor.data = bytes.data();
        for (size_t row = 0; row < rows; row++) {
            ggml_get_type_traits(type)->to_float(&bytes[row * row_bytes], &floats[row * width], static_cast<int64_t>(width));
        }
    }
};

// Weights in the form of Whisper's encoder, as packInBytes of src/speech/recognizer/whisper/encoder/pack-weights.ts packs them.
struct WideMatrix {
    transcribe::Buffer<transcribe::WidePanelBlock> panels; // [outputs / 32][inputs / 128]
    std::vector<float> weights;                            // before they are quantized: [outputs][inputs]
    std::vector<double> quantized;                         // the same afterwards
    size_t outputs;
    size_t inputs;

    WideMatrix(size_t outputs, size_t inputs, const std::function<float(size_t output, size_t input)> & weight);
};

// Largest size of a weight in the wide form, and what is added to it.
int wide_largest();
int wide_zero();

}  // namespace checks
