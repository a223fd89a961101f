// Checks of cross-attention.cpp: the decoder's attention to the positions of a window.

#include "decoder/cross-attention.h"

#include "attention-cases.h"

#include <ggml.h>

namespace checks {

using namespace transcribe;

namespace {

static_assert(CrossAttention::head_width == width);

struct CrossLimit {
    double quantized; // for keys and values that are quantized in the same way
    double exact;
};

constexpr Case<CrossLimit> cross_cases[] = {
    {"random", normal, normal, normal, {1e-3, 2e-2}},
    {"few keys for each query", times_30, normal, normal, {1e-2, 1}},
    {"one key for each query, by far", large_noise, noise, normal, {1e-3, 5e-2}},
    {"keys and values far from zero", normal, far_from_zero, far_from_zero, {1e-2, 3e-2}},
    {"the same scores, values in two halves", normal, two, halves, {1e-3, 1e-3}},
    {"alternating", alternating, alternating, alternating, {1e-3, 1e-2}},
    {"zeros", zero, zero, zero, {0, 0}},
};

// Rows of 16-bit floats of all heads, and the numbers of a channel that the kernels round to 8 bits.
struct Vectors {
    std::vector<uint16_t> halves; // [positions][heads][width]
    std::vector<double> exact;
    std::vector<double> quantized;
    size_t heads;

    template <typename Number> Vectors(size_t positions, size_t heads, const Number & number)
        : halves(positions * heads * width), exact(halves.size()), quantized(halves.size()), heads(heads) {
        const size_t stride = heads * width;
        for (size_t i = 0; i < halves.size(); i++) {
            halves[i] = ggml_fp32_to_fp16(number(i / stride, i % width));
            exact[i] = ggml_fp16_to_fp32(halves[i]);
        }
        for (size_t channel = 0; channel < stride; channel++) {
            double total = 0, range = 0;
            for (size_t i = channel; i < exact.size(); i += stride) {
                total += exact[i];
            }
            const double mean = total / static_cast<double>(positions);
            for (size_t i = channel; i < exact.size(); i += stride) {
                range = std::max(range, std::fabs(exact[i] - mean));
            }
            const double step = std::max(range / 127, 1e-20);
            for (size_t i = channel; i < exact.size(); i += stride) {
                quantized[i] = mean + std::nearbyint((exact[i] - mean) / step) * step;
            }
        }
    }

    auto of_head(const std::vector<double> & numbers, size_t head) const {
        return [this, &numbers, head](size_t at, size_t d) { return numbers[(at * heads + head) * width + d]; };
    }
};

constexpr size_t layers = 2, cross_heads = 3;
constexpr float cross_scale = 0.125f;
constexpr size_t query_stride = width + 3, output_stride = width + 5;

std::vector<float> attend_few(const CrossAttention & attention, size_t layer, size_t head, const std::vector<float> & queries,
                              size_t count) {
    std::vector<float> output(count * output_stride, untouched);
    attention.attend(layer, head, queries.data(), query_stride, count, cross_scale, output.data(), output_stride);
    return output;
}

void check_cross(const Case<CrossLimit> & numbers) {
    Random random;
    Worst quantized, exact;
    Wrong written;
    for (const size_t positions : {1, 17, 1500}) {
        const auto take = [&](auto number) {
            return Vectors(positions, cross_heads, [&](size_t at, size_t d) { return number(random, at, d); });
        };
        for (const size_t padding : {0, 40}) {
            CrossAttention attention(layers, cross_heads);
            std::vector<Vectors> keys, values;
            for (size_t layer = 0; layer < layers; layer++) {
                keys.push_back(take(numbers.key));
                values.push_back(take(numbers.value));
                attention.pack(layer, keys[layer].halves.data(), values[layer].halves.data(), positions, padding);
            }
            for (size_t count = 1; count <= 6; count++) {
                const size_t layer = count % layers, head = count % cross_heads;
                std::vector<float> queries(count * query_stride);
                for (size_t i = 0; i < queries.size(); i++) {
                    queries[i] = numbers.query(random, i / query_stride, i % query_stride);
                }
                const std::vector<float> output = attend_few(attention, layer, head, queries, count);
                for (size_t q = 0; q < count; q++) {
                    const auto error_to = [&](const std::vector<double> Vectors::*form, Worst & error) {
                        const auto key = keys[layer].of_head(keys[layer].*form, head);
                        const auto value = values[layer].of_head(values[layer].*form, head);
                        const std::vector<double> expected =
                            reference(&queries[q * query_stride], cross_scale, positions, padding, key, value);
                        for (size_t d = 0; d < width; d++) {
                            error.add(std::fabs(output[q * output_stride + d] - expected[d]));
                        }
                    };
                    error_to(&Vectors::quantized, quantized);
                    if (count == 1) {
                        error_to(&Vectors::exact, exact);
                    }
                    for (size_t d = width; d < output_stride; d++) {
                        written.add(output[q * output_stride + d] != untouched);
                    }
                }
            }
        }
    }
    const std::string name = std::string("cross-attention, ") + numbers.name;
    report(name + ": to keys and values that are quantized", quantized.error(), numbers.limit.quantized);
    report(name + ": to keys and values that are not", exact.error(), numbers.limit.exact);
    written.report(name + ": memory written after an output");
}

void check_cross_not_finite() {
    constexpr size_t positions = 33, count = 6;
    Wrong of_query, of_key, of_value;
    Random random;
    const auto number = [&](size_t, size_t) { return random.normal(); };
    const Vectors keys(positions, cross_heads, number), values(positions, cross_heads, number);
    std::vector<float> queries(count * query_stride);
    std::generate(queries.begin(), queries.end(), [&] { return random.normal(); });
    for (const size_t padding : {0, 40}) {
        const auto attend_with = [&](const Vectors & k, const Vectors & v, const std::vector<float> & q) {
            CrossAttention attention(layers, cross_heads);
            attention.pack(1, k.halves.data(), v.halves.data(), positions, padding);
            return attend_few(attention, 1, 2, q, count);
        };
        const std::vector<float> good = attend_with(keys, values, queries);
        const auto compare = [&](const std::vector<float> & output, Wrong & wrong, const auto & is_bad) {
            for (size_t q = 0; q < count; q++) {
                for (size_t d = 0; d < width; d++) {
                    const size_t i = q * output_stride + d;
                    wrong.add(is_bad(q, d) ? !std::isnan(output[i]) : output[i] != good[i]);
                }
            }
        };
        for (size_t bad = 0; bad < count; bad++) {
            std::vector<float> with_bad = queries;
            with_bad[bad * query_stride + 50] = std::numeric_limits<float>::quiet_NaN();
            compare(attend_with(keys, values, with_bad), of_query, [&](size_t q, size_t) { return q == bad; });
        }
        const auto spoilt = [](Vectors vectors, size_t at) {
            vectors.halves[(at * cross_heads + 2) * width + 19] = 0x7e00;
            return vectors;
        };
        for (const size_t at : {0, 16, 32}) {
            compare(attend_with(spoilt(keys, at), values, queries), of_key, [](size_t, size_t) { return true; });
            compare(attend_with(keys, spoilt(values, at), queries), of_value, [](size_t, size_t d) { return d == 19; });
        }
    }
    of_query.report("cross-attention: outputs with a query that is not a number");
    of_key.report("cross-attention: outputs with a key that is not a number");
    of_value.report("cross-attention: outputs with a value that is not a number");
}

}  // namespace

void check_cross_attention() {
    for (const auto & numbers : cross_cases) {
        check_cross(numbers);
    }
    check_cross_not_finite();
}

}  // namespace checks
