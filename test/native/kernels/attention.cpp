// Checks of attention.cpp: attention between the positions of Whisper's encoder.

#include "attention-cases.h"

namespace checks {

using namespace transcribe;

namespace {

struct EncoderLimit {
    double integers;
    double bfloat16;
};

constexpr Case<EncoderLimit> encoder_cases[] = {
    {"random", normal, normal, normal, {2e-2, 1e-2}},
    // Scores of 30 and more, of which the largest decides: two keys whose scores are close may change places.
    {"few keys for each query", times_30, normal, normal, {1.5, 5e-1}},
    {"one key for each query, by far", large_noise, noise, normal, {1e-3, 2e-2}},
    {"the same scores, at their largest", two, two, normal, {1e-3, 1e-2}},
    {"scores at their largest, with both signs", alternating, alternating, normal, {1e-3, 1e-2}},
    {"the same scores and values", two, two, two, {1e-3, 1e-2}},
    {"zeros", zero, zero, zero, {0, 0}},
};

// [count][query, key, value][heads][width]
template <typename Limit> std::vector<float> encoder_input(const Case<Limit> & numbers, size_t count, size_t heads) {
    Random random;
    std::vector<float> input(count * 3 * heads * width);
    for (size_t i = 0; i < input.size(); i++) {
        const size_t at = i / (3 * heads * width), part = i / (heads * width) % 3;
        const auto number = part == 0 ? numbers.query : part == 1 ? numbers.key : numbers.value;
        input[i] = number(random, at, i % width);
    }
    return input;
}

std::vector<float> attend_all(const std::vector<float> & input, size_t count, size_t heads, size_t threads) {
    std::vector<float> output(count * heads * width + 16, untouched);
    attend(input.data(), output.data(), count, heads, threads);
    return output;
}

void check_encoder(const Case<EncoderLimit> & numbers) {
    constexpr size_t heads = 3;
    Worst error;
    Wrong threads, written;
    for (const size_t count : {1, 5, 63, 64, 65, 200}) {
        const std::vector<float> input = encoder_input(numbers, count, heads);
        const std::vector<float> output = attend_all(input, count, heads, 1);
        threads.add(attend_all(input, count, heads, 2) != output);
        written.add(std::any_of(output.end() - 16, output.end(), [](float f) { return f != untouched; }));
        // Of many outputs, each fifth has all heads, and all places in the kernels' groups of rows.
        for (size_t i = 0; i < count * heads; i += count > 5 ? 5 : 1) {
            const size_t at = i / heads, head = i % heads;
            const auto number = [&](size_t position, size_t part, size_t d) -> const float & {
                return input[((position * 3 + part) * heads + head) * width + d];
            };
            const auto key = [&](size_t k, size_t d) { return number(k, 1, d); };
            const auto value = [&](size_t k, size_t d) { return number(k, 2, d); };
            const std::vector<double> expected = reference(&number(at, 0, 0), 1.0 / 8, count, 0, key, value);
            for (size_t d = 0; d < width; d++) {
                error.add(std::fabs(output[i * width + d] - expected[d]));
            }
        }
    }
    const std::string name = std::string("attention, ") + numbers.name;
    report(name, error.error(), instructions() == Instructions::bfloat16 ? numbers.limit.bfloat16 : numbers.limit.integers);
    threads.report(name + ": results that differ by the number of threads");
    written.report(name + ": memory written after the output");
}

// NaN in a query changes its own output only. NaN in a key appears in all outputs of its head.
void check_encoder_not_finite() {
    constexpr size_t heads = 2, count = 65, head = 1;
    Wrong of_query, of_key, of_value;
    const std::vector<float> input = encoder_input(encoder_cases[0], count, heads);
    const std::vector<float> good = attend_all(input, count, heads, 1);
    for (const size_t bad_at : {0, 7, 64}) {
        const auto check = [&](size_t part, Wrong & wrong) {
            std::vector<float> with_bad = input;
            with_bad[((bad_at * 3 + part) * heads + head) * width + 9] = std::numeric_limits<float>::quiet_NaN();
            const std::vector<float> output = attend_all(with_bad, count, heads, 1);
            for (size_t i = 0; i < count * heads * width; i++) {
                const bool is_head = i / width % heads == head;
                const bool is_bad = is_head && (part == 0 ? i / width / heads == bad_at : part == 1 || i % width == 9);
                const bool may_be_bad = is_head && part == 2;
                wrong.add(is_bad ? !std::isnan(output[i]) : !may_be_bad && output[i] != good[i]);
            }
        };
        check(0, of_query);
        check(1, of_key);
        check(2, of_value);
    }
    of_query.report("attention: outputs with a query that is not a number");
    of_key.report("attention: outputs with a key that is not a number");
    of_value.report("attention: outputs with a value that is not a number");
}

}  // namespace

void check_attention() {
    for (const auto & numbers : encoder_cases) {
        check_encoder(numbers);
    }
    check_encoder_not_finite();
}

}  // namespace checks
