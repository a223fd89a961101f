// The kernels of cross-attention.cpp, for each kind of instructions.

namespace {

using Head = CrossAttention::Head;

constexpr size_t lanes = 16;
constexpr size_t width = CrossAttention::head_width;
constexpr size_t vectors = width / lanes;
constexpr size_t most_positions = CrossAttention::most_positions;
// Largest sizes of the numbers of 16 bits. A query's low byte has a sign, too.
constexpr float query_limit = 127 * 256;
constexpr float weight_limit = HAS_AVX512 ? 65535 : 32767;
constexpr float log2e = static_cast<float>(M_LOG2E);

// Rounds each channel, relative to its mean, to 8 bits: [position][channel].
void quantize_channels(const uint16_t * input, size_t stride, size_t positions, float * scale, float * mean, int8_t * numbers) {
    for (size_t channel = 0; channel < width; channel += lanes) {
        Floats least = load_halves(input + channel);
        Floats most = least;
        Floats total = zeros();
        for (size_t at = 0; at < positions; at++) {
            const Floats number = load_halves(input + at * stride + channel);
            least = smallest(least, number);
            most = largest(most, number);
            total = add(total, number);
        }
        const Floats middle = divide(total, same(static_cast<float>(positions)));
        const Floats range = largest(subtract(most, middle), subtract(middle, least));
        const Floats step = largest(divide(range, same(127)), same(1e-20f));
        store(scale + channel, step);
        store(mean + channel, middle);
        const Floats factor = divide(same(1), step);
        for (size_t at = 0; at < positions; at++) {
            const Floats number = subtract(load_halves(input + at * stride + channel), middle);
            store_bytes(numbers + at * width + channel, to_ints(multiply(number, factor)));
        }
    }
}

// A query in 16 bits, and what its scores are made of.
struct Query {
    alignas(64) int16_t words[width];
    float step;
    float mean_score;
    int32_t total;
};

// Multiplies with the keys' scales and rounds. Weights are powers of two, so `factor` contains log2(e).
inline void take_query(const float * numbers, const Head & head, Floats factor, Query & query) {
    Floats scaled[vectors];
    Floats mean = zeros();
    Floats most = zeros();
    for (size_t v = 0; v < vectors; v++) {
        const Floats number = multiply(load(numbers + v * lanes), factor);
        mean = multiply_add(number, load(head.key_mean + v * lanes), mean);
        scaled[v] = multiply(number, load(head.key_scale + v * lanes));
        most = largest(most, absolute(scaled[v]));
    }
    query.mean_score = sum_of(mean);
    query.step = std::max(largest_of(most) / query_limit, 1e-30f);
    Ints total = same_ints(0);
    for (size_t v = 0; v < vectors; v++) {
        const Ints whole = to_ints(divide(scaled[v], same(query.step)));
        store_words(query.words + v * lanes, whole);
        total = add_ints(total, whole);
    }
    query.total = sum_of_ints(total);
}

#if HAS_AVX512
#include "cross-attention-in-bytes.h"
#else
#include "cross-attention-in-words.h"
#endif

template <size_t count>
void attend_few(const Head & head, size_t positions, size_t padding, const float * queries, size_t query_stride, float scale,
                float * output, size_t output_stride) {
    const size_t blocks = (positions + lanes - 1) / lanes;
    Query rounded[count];
    for (size_t q = 0; q < count; q++) {
        take_query(queries + q * query_stride, head, same(scale * log2e), rounded[q]);
    }

    alignas(64) float scores[count][most_positions];
    Floats most[count];
    for (size_t q = 0; q < count; q++) {
        most[q] = same(-INFINITY);
    }
    const Keys<count> keys(rounded);
    for (size_t block = 0; block < blocks; block++) {
        Ints products[count];
        keys.multiply(head, block, products);
        for (size_t q = 0; q < count; q++) {
            const Floats all = multiply(to_floats(products[q]), same(rounded[q].step));
            const Floats score = first_of(all, std::min(lanes, positions - block * lanes), same(-INFINITY));
            store(scores[q] + block * lanes, score);
            most[q] = largest(most[q], score);
        }
    }

    Weights<count> weights;
    float of_values[count]; // sums of weights
    float of_all[count];
    for (size_t q = 0; q < count; q++) {
        const float mean_score = rounded[q].mean_score;
        float best = largest_of(most[q]);
        if (padding > 0) {
            best = std::max(best, -mean_score);
        }
        Ints total = same_ints(0);
        for (size_t block = 0; block < blocks; block++) {
            const Floats score = subtract(load(scores[q] + block * lanes), same(best));
            const Ints weight = to_ints(multiply(power_of_two(score), same(weight_limit)));
            weights.set(q, block * lanes, weight);
            total = add_ints(total, weight);
        }
        of_values[q] = static_cast<float>(sum_of_ints(total));
        // Without padding the product still shows a number that is not finite.
        const float of_padding =
            padding > 0 ? static_cast<float>(padding) * weight_limit * std::exp2(-mean_score - best) : 0 * mean_score;
        of_all[q] = of_values[q] + of_padding;
    }

    Floats products[count][vectors];
    weights.multiply(head, blocks, products);
    for (size_t q = 0; q < count; q++) {
        for (size_t v = 0; v < vectors; v++) {
            const Floats mean = multiply(load(head.value_mean + v * lanes), same(of_values[q]));
            const Floats all = multiply_add(products[q][v], load(head.value_scale + v * lanes), mean);
            store(output + q * output_stride + v * lanes, divide(all, same(of_all[q])));
        }
    }
}

}  // namespace

// `numbers` is working memory for all positions of a head.
void pack_head(Head & head, const uint16_t * keys, const uint16_t * values, size_t stride, size_t positions, int8_t * numbers) {
    // The positions from the last one to the end of its block are like the mean; their weights are zero.
    const size_t end = (positions + lanes - 1) / lanes * lanes;
    std::memset(numbers + positions * width, 0, (end - positions) * width);
    quantize_channels(keys, stride, positions, head.key_scale, head.key_mean, numbers);
    order_keys(numbers, end, head);
    quantize_channels(values, stride, positions, head.value_scale, head.value_mean, numbers);
    order_values(numbers, end, head);
}

void attend(const Head & head, size_t positions, size_t padding, const float * queries, size_t query_stride, size_t count,
            float scale, float * output, size_t output_stride) {
    while (count > 0) {
        const size_t few = std::min(count, CrossAttention::most_queries);
        switch (few) {
        case 1: attend_few<1>(head, positions, padding, queries, query_stride, scale, output, output_stride); break;
        case 2: attend_few<2>(head, positions, padding, queries, query_stride, scale, output, output_stride); break;
        case 3: attend_few<3>(head, positions, padding, queries, query_stride, scale, output, output_stride); break;
        case 4: attend_few<4>(head, positions, padding, queries, query_stride, scale, output, output_stride); break;
        case 5: attend_few<5>(head, positions, padding, queries, query_stride, scale, output, output_stride); break;
        }
        queries += few * query_stride;
        output += few * output_stride;
        count -= few;
    }
}
