// Checks of layer-steps.cpp: the steps of a layer between its products.

#include "kernels/layer-steps.h"

#include "kernels/quantized.h"

#include "step-references.h"

namespace checks {

using namespace transcribe;

namespace {

void check_normalize() {
    constexpr struct {
        const char * name;
        float size;
        float mean;
        double limit;
    } cases[] = {{"random", 1, 0, 2e-6},
                 {"far from zero", 1, 1000, 2e-3},
                 {"large", 1e15f, 0, 2e-6},
                 {"tiny", 1e-10f, 0, 2e-6},
                 {"the same", 0, 5, 2e-3}};
    Random random;
    for (const auto & [name, size, mean, limit] : cases) {
        Worst error;
        Wrong different;
        for (const size_t width : {16, 48, 512}) {
            std::vector<float> row = normal_numbers(random, width, size, mean);
            const std::vector<float> weight = normal_numbers(random, width), bias = normal_numbers(random, width);
            const std::vector<double> expected = normalized(row.data(), width, weight.data(), bias.data());
            std::vector<float> output(width);
            normalize(row.data(), {weight.data(), bias.data()}, width, output.data());
            for (size_t i = 0; i < width; i++) {
                error.add(std::fabs(output[i] - expected[i]) / (1 + std::fabs(expected[i])));
            }
            normalize(row.data(), {weight.data(), bias.data()}, width, row.data());
            different.add(row != output);
        }
        report(std::string("normalize, ") + name, error.error(), limit);
        different.report(std::string("normalize, ") + name + ": results that differ in place");
    }
    Wrong wrong;
    std::vector<float> row = normal_numbers(random, 48), ones(48, 1.0f), output(48);
    row[21] = not_a_number;
    normalize(row.data(), {ones.data(), ones.data()}, 48, output.data());
    std::for_each(output.begin(), output.end(), [&](float number) { wrong.add(!std::isnan(number)); });
    wrong.report("normalize: numbers of a row with one that is none");
}

void check_convolve() {
    Random random;
    Worst error;
    Wrong rows;
    for (const size_t width : {16, 48}) {
        for (const size_t kernel : {1, 5, 9}) {
            const std::vector<float> weights = normal_numbers(random, kernel * width), bias = normal_numbers(random, width);
            for (const size_t count : {1, 2, 4, 5, 9, 20}) {
                const std::vector<float> input = normal_numbers(random, count * width, 3);
                std::vector<float> with_bad = input;
                const size_t bad = count / 2;
                with_bad[bad * width + 3] = not_a_number;
                for (size_t row = 0; row < count; row++) {
                    std::vector<float> output(width), bad_output(width);
                    convolve(input.data(), row, count, weights.data(), bias.data(), kernel, width, output.data());
                    convolve(with_bad.data(), row, count, weights.data(), bias.data(), kernel, width, bad_output.data());
                    const bool is_near = row + kernel / 2 >= bad && row <= bad + kernel / 2;
                    for (size_t column = 0; column < width; column++) {
                        double sum = bias[column];
                        for (size_t k = 0; k < kernel; k++) {
                            const size_t from = row + k - kernel / 2;
                            if (from < count) { // also not below zero
                                sum += static_cast<double>(input[from * width + column]) * weights[k * width + column];
                            }
                        }
                        error.add(std::fabs(output[column] - sum * sigmoid(sum)) / (1 + std::fabs(sum)));
                        const bool is_bad = is_near && column == 3;
                        rows.add(is_bad ? !std::isnan(bad_output[column]) : bad_output[column] != output[column]);
                    }
                }
            }
        }
    }
    report("convolve", error.error(), 2e-6);
    rows.report("convolve: outputs near a number that is none");
}

// Checks a function of numbers in panels. `apply` computes the outputs of 32 sums.
template <typename Apply, typename Expected>
void check_function(const char * name, double limit, const Apply & apply, const Expected & expected) {
    std::vector<float> numbers;
    for (float x = -20; x <= 20; x += 0.0078125f) {
        numbers.push_back(x);
    }
    // Around the limits of powers of two in 32 bits, and far above them.
    for (float x = 80; x <= 180; x += 0.0625f) {
        numbers.insert(numbers.end(), {x, -x});
    }
    numbers.insert(numbers.end(), {0.0f, -0.0f, 1e-30f, -1e-30f, 1e4f, -1e4f, 1e9f, -1e9f, 1e18f, -1e18f, 1e30f, -1e30f});
    numbers.resize((numbers.size() + panel_outputs - 1) / panel_outputs * panel_outputs);
    Worst error;
    Wrong bad;
    for (size_t first = 0; first < numbers.size(); first += panel_outputs) {
        alignas(64) float sums[panel_outputs], output[panel_outputs];
        std::copy_n(&numbers[first], panel_outputs, sums);
        apply(sums, output);
        for (size_t i = 0; i < panel_outputs; i++) {
            const double x = sums[i];
            error.add(std::fabs(output[i] - expected(x)) / (1 + std::fabs(expected(x))));
        }
        const size_t at = first / panel_outputs % panel_outputs;
        sums[at] = not_a_number;
        alignas(64) float with_bad[panel_outputs];
        apply(sums, with_bad);
        for (size_t i = 0; i < panel_outputs; i++) {
            bad.add(i == at ? !std::isnan(with_bad[i]) : with_bad[i] != output[i]);
        }
    }
    report(name, error.error(), limit);
    bad.report(std::string(name) + ": outputs of panels with a number that is none");
}

void check_functions() {
    const std::vector<float> no_bias(panel_outputs);
    check_function("SiLU", 1e-6, [](const float * sums, float * output) { silu_of_sums(sums, output); },
                   [](double x) { return x * sigmoid(x); });
    check_function("GELU", 1e-6, [&](const float * sums, float * output) { gelu_of_sums(sums, no_bias.data(), output); },
                   exact_gelu);
    const auto gate = [](const float * gates, float * output) {
        for (size_t first = 0; first < panel_outputs; first += panel_outputs / 2) {
            alignas(64) float sums[panel_outputs];
            std::fill_n(sums, panel_outputs / 2, 3.0f);
            std::copy_n(gates + first, panel_outputs / 2, sums + panel_outputs / 2);
            gate_sums(sums, output + first);
        }
    };
    check_function("gate, by gates", 2e-6, gate, [](double x) { return 3 * sigmoid(x); });
    const auto gate_values = [](const float * values, float * output) {
        for (size_t first = 0; first < panel_outputs; first += panel_outputs / 2) {
            alignas(64) float sums[panel_outputs];
            std::copy_n(values + first, panel_outputs / 2, sums);
            std::fill_n(sums + panel_outputs / 2, panel_outputs / 2, -1.5f);
            gate_sums(sums, output + first);
        }
    };
    check_function("gate, by values", 1e-6, gate_values, [](double x) { return x * sigmoid(-1.5); });

    Random random;
    const std::vector<float> bias = normal_numbers(random, panel_outputs), before = normal_numbers(random, panel_outputs);
    const auto place = [](double x) { return static_cast<size_t>(x); };
    // The sums are 0, 1, 2 and so on.
    const auto check_places = [&](const char * name, const auto & apply, const auto & expected) {
        alignas(64) float sums[panel_outputs];
        std::vector<float> output = before;
        Worst error;
        for (size_t i = 0; i < panel_outputs; i++) {
            sums[i] = static_cast<float>(i);
        }
        apply(sums, output.data());
        for (size_t i = 0; i < panel_outputs; i++) {
            error.add(std::fabs(output[i] - expected(static_cast<double>(i))));
        }
        report(name, error.error(), 5e-6);
    };
    check_places("store sums", [](const float * sums, float * output) { store_sums(sums, nullptr, output); },
                 [](double x) { return x; });
    check_places("store sums, with a bias", [&](const float * sums, float * output) { store_sums(sums, bias.data(), output); },
                 [&](double x) { return x + bias[place(x)]; });
    check_places("add sums, with a factor", [](const float * sums, float * output) { add_sums(sums, 0.5f, output); },
                 [&](double x) { return x / 2 + before[place(x)]; });
    check_places("add sums, with a bias", [&](const float * sums, float * output) { add_sums_with_bias(sums, bias.data(), output); },
                 [&](double x) { return x + bias[place(x)] + before[place(x)]; });
    check_places("GELU, with a bias", [&](const float * sums, float * output) { gelu_of_sums(sums, bias.data(), output); },
                 [&](double x) { return exact_gelu(x + bias[place(x)]); });
}

}  // namespace

void check_steps() {
    check_normalize();
    check_convolve();
    check_functions();
}

}  // namespace checks
