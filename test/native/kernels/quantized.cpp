// Checks of quantized.cpp: rows are quantized, and multiplied with panels of weights.

#include "weights.h"

#include <algorithm>
#include <limits>

namespace checks {

using namespace transcribe;

int wide_largest() {
    return instructions() == Instructions::avx2 ? 64 : 127;
}

int wide_zero() {
    return has_avx512() ? 128 : 0;
}

WideMatrix::WideMatrix(size_t outputs, size_t inputs, const std::function<float(size_t, size_t)> & weight)
    : panels(buffer<WidePanelBlock>(outputs / panel_outputs * (inputs / wide_block_width))), weights(outputs * inputs),
      quantized(outputs * inputs), outputs(outputs), inputs(inputs) {
    const size_t blocks = inputs / wide_block_width;
    const auto largest = static_cast<float>(wide_largest());
    for (size_t output = 0; output < outputs; output++) {
        const size_t lane = output % panel_outputs;
        for (size_t block = 0; block < blocks; block++) {
            WidePanelBlock & panel = panels[output / panel_outputs * blocks + block];
            float * values = &weights[output * inputs + block * wide_block_width];
            float most = 0;
            for (size_t i = 0; i < wide_block_width; i++) {
                values[i] = weight(output, block * wide_block_width + i);
                most = std::max(most, std::fabs(values[i]));
            }
            int sum = 0;
            for (size_t i = 0; i < wide_block_width; i++) {
                const int number = most > 0 ? static_cast<int>(std::lround(values[i] * largest / most)) : 0;
                sum += number;
                panel.numbers[i / 4][lane / 16][4 * (lane % 16) + i % 4] = static_cast<uint8_t>(wide_zero() + number);
                quantized[output * inputs + block * wide_block_width + i] = static_cast<double>(number) * (most / largest);
            }
            panel.scales[lane] = most / largest;
            panel.sums[lane] = static_cast<float>(sum) * most / largest;
        }
    }
}

namespace {

constexpr size_t row_counts[] = {1, 2, 3, 5, 6, 7, 48, 49};
constexpr double rounding = 1e-6; // of sums in 32 bits, relative to the sum of the products' sizes
constexpr double denormal = 1e-32; // numbers far below it may have no correct digit

// Levels of numbers, from the kind's comment in kernels/lanes/for-each.h.
double levels_of(size_t block) {
    const bool is_narrow = block == block_width;
    return has_avx512() ? 254 : instructions() == Instructions::avx2 && is_narrow ? 127 : 255;
}

// Rows of numbers, and the same quantized.
struct Rows {
    size_t count;
    size_t width;
    std::vector<float> numbers;
    QuantizedRows quantized;

    template <typename Number>
    Rows(size_t count, size_t width, size_t block, const Number & number)
        : count(count), width(width), numbers(count * width), quantized(count, width, block) {
        for (size_t row = 0; row < count; row++) {
            for (size_t column = 0; column < width; column++) {
                numbers[row * width + column] = number(row, column);
            }
            // In two parts, as the steps of a layer store them.
            const size_t first = width / block > 1 ? block : width;
            quantize(&numbers[row * width], first, quantized, row);
            if (first < width) {
                quantize(&numbers[row * width + first], width - first, quantized, row, 1);
            }
        }
        // The product may read rows after the last one, but their results must not be used.
        for (size_t row = count; row < count + rows_at_once - 1; row++) {
            for (size_t b = 0; b < width / block; b++) {
                quantized.scales(row)[b].scale = std::numeric_limits<float>::quiet_NaN();
                quantized.scales(row)[b].least = std::numeric_limits<float>::quiet_NaN();
            }
        }
    }

    // The smallest number of a block, in the form in which it is stored.
    double least(size_t row, size_t number) const { return has_avx512() ? 0 : quantized.scales(row)[number].least; }

    // A quantized number less the smallest one.
    double above_least(size_t row, size_t column) const {
        const int8_t stored = quantized.numbers(row)[column];
        return static_cast<double>(has_avx512() ? stored : static_cast<uint8_t>(stored)) *
               quantized.scales(row)[column / quantized.block()].scale;
    }

    // Half the distance between levels: the largest error of a number of a block.
    double half_step(size_t row, size_t number) const {
        const float * from = &numbers[row * width + number * quantized.block()];
        const auto [least, most] = std::minmax_element(from, from + quantized.block());
        const double range = has_avx512() ? 2.0 * std::max(std::fabs(*least), std::fabs(*most)) : 1.0 * *most - *least;
        return range / levels_of(quantized.block()) / 2;
    }
};

// Receives the sums of all rows.
struct Sums {
    std::vector<float> numbers;
    std::vector<int> calls;

    explicit Sums(size_t count) : numbers(count * panel_outputs, untouched), calls(count) {}

    static void take(const void * self, size_t row, const float * sums) {
        auto & all = *static_cast<Sums *>(const_cast<void *>(self));
        all.calls.at(row)++;
        std::copy(sums, sums + panel_outputs, &all.numbers[row * panel_outputs]);
    }
};

template <typename Block> Sums multiply(const Rows & rows, const Block * panel) {
    Sums sums(rows.count);
    multiply_panel(rows.quantized, rows.count, panel, rows.quantized.blocks(), Sums::take, &sums);
    return sums;
}

// The errors of products, each relative to its limit or to the sizes of what is added.
struct Errors {
    Worst numbers;
    Worst products;
    Worst unquantized;
    Wrong calls;

    // The weights are [output][column]: as they are, quantized, and the largest errors of the quantized ones.
    void add(const Rows & rows, const Sums & sums, const std::vector<double> & exact, const std::vector<double> & quantized,
             const std::vector<double> & weight_steps) {
        const size_t width = rows.width, block = rows.quantized.block();
        std::vector<double> half_steps(width), values(width), sizes(width);
        for (size_t row = 0; row < rows.count; row++) {
            calls.add(sums.calls[row] != 1);
            const float * input = &rows.numbers[row * width];
            for (size_t column = 0; column < width; column++) {
                const double least = rows.least(row, column / block), above = rows.above_least(row, column);
                half_steps[column] = column % block == 0 ? rows.half_step(row, column / block) : half_steps[column - 1];
                values[column] = least + above;
                sizes[column] = std::fabs(least) + std::fabs(above);
                const double limit = half_steps[column] * (1 + 1e-4) + rounding * (std::fabs(least) + std::fabs(input[column]));
                numbers.add(std::fabs(values[column] - input[column]) / (limit + denormal));
            }
            for (size_t output = 0; output < panel_outputs; output++) {
                double sum = 0, size = 0, exact_sum = 0, limit = 0, any = 0;
                for (size_t column = 0; column < width; column++) {
                    const size_t at = output * width + column;
                    const double weight = quantized[at], number = input[column];
                    sum += values[column] * weight;
                    size += sizes[column] * std::fabs(weight);
                    exact_sum += number * exact[at];
                    limit += half_steps[column] * std::fabs(weight) + weight_steps[at] * std::fabs(number);
                    any += std::fabs(weight) + std::fabs(number);
                }
                const double result = sums.numbers[row * panel_outputs + output];
                products.add(std::fabs(result - sum) / (size + denormal * (1 + any)));
                unquantized.add(std::fabs(result - exact_sum) / (limit + rounding * size + denormal * (1 + any)));
            }
        }
    }

    void report(const std::string & name) const {
        checks::report(name + ": a number, to half a step", numbers.error(), 1);
        checks::report(name + ": a product of quantized numbers", products.error(), rounding);
        checks::report(name + ": a product, to its largest possible error", unquantized.error(), 1);
        calls.report(name + ": rows that are not given once");
    }
};

// A number that is not finite appears in all outputs of its row, and changes no other row.
template <typename Block> void check_not_finite(const std::string & name, const Block * panel, size_t width, size_t block) {
    Wrong wrong;
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
        for (const size_t bad_row : {0, 3, 6}) {
            for (const size_t bad_column : {size_t{0}, width / 2 + 7, width - 1}) {
                const auto numbers_with = [&](float number) {
                    Random random;
                    return Rows(7, width, block, [&](size_t row, size_t column) {
                        const float usual = random.normal();
                        return row == bad_row && column == bad_column ? number : usual;
                    });
                };
                const Sums good = multiply(numbers_with(0), panel);
                const Sums bad_sums = multiply(numbers_with(bad), panel);
                for (size_t i = 0; i < good.numbers.size(); i++) {
                    const bool is_bad = i / panel_outputs == bad_row;
                    wrong.add(is_bad ? !std::isnan(bad_sums.numbers[i]) : bad_sums.numbers[i] != good.numbers[i]);
                }
            }
        }
    }
    wrong.report(name + ": outputs of rows with a number that is not finite");
}

void check_narrow(const char * name, ggml_type type) {
    Random random;
    for (const Bytes & weights : weight_patterns(random)) {
        Errors errors;
        for (const size_t width : {size_t{32}, size_t{96}}) {
            const Matrix matrix(type, 64, width, weights, random);
            // Neighbours, and the values and gates of a gated product.
            for (const auto & [first, second] : {std::pair<size_t, size_t>{16, 32}, {0, 48}}) {
                const auto panel = buffer<PanelBlock>(width / block_width);
                pack_panel(&matrix.tensor, first, second, panel.get());
                std::vector<double> exact;
                for (size_t output = 0; output < panel_outputs; output++) {
                    const auto from = matrix.floats.begin() + (output < 16 ? first + output : second + output - 16) * width;
                    exact.insert(exact.end(), from, from + width);
                }
                const std::vector<double> no_steps(exact.size());
                for (const Pattern & input : input_patterns(random)) {
                    for (const size_t count : row_counts) {
                        if (count != 7 && input.name != std::string("random")) {
                            continue;
                        }
                        const Rows rows(count, width, block_width, input.number);
                        errors.add(rows, multiply(rows, panel.get()), exact, exact, no_steps);
                    }
                }
                if (weights.name == std::string("random") && width > block_width && first == 0) {
                    check_not_finite(name, panel.get(), width, block_width);
                }
            }
        }
        errors.report(std::string(name) + ", weights " + weights.name);
    }
}

void check_wide() {
    Random random;
    for (const Pattern & weights : input_patterns(random)) {
        Errors errors;
        for (const size_t width : {size_t{128}, size_t{384}}) {
            const WideMatrix matrix(panel_outputs, width, weights.number);
            const std::vector<double> exact(matrix.weights.begin(), matrix.weights.end());
            std::vector<double> half_steps(exact.size());
            for (size_t i = 0; i < exact.size(); i++) {
                half_steps[i] = 0.5 * matrix.panels[i % width / wide_block_width].scales[i / width];
            }
            for (const Pattern & input : input_patterns(random)) {
                if (weights.name == std::string("huge") && input.name == weights.name) {
                    continue; // too large for 32 bits
                }
                for (const size_t count : row_counts) {
                    if (count != 7 && input.name != std::string("random")) {
                        continue;
                    }
                    const Rows rows(count, width, wide_block_width, input.number);
                    errors.add(rows, multiply(rows, matrix.panels.get()), exact, matrix.quantized, half_steps);
                }
            }
            if (weights.name == std::string("random")) {
                check_not_finite("wide, " + std::to_string(width) + " inputs", matrix.panels.get(), width, wide_block_width);
            }
        }
        errors.report(std::string("wide, weights ") + weights.name);
    }
}

}  // namespace

void check_quantized() {
    check_narrow("Q8_0", GGML_TYPE_Q8_0);
    check_narrow("Q5_0", GGML_TYPE_Q5_0);
    check_narrow("Q4_0", GGML_TYPE_Q4_0);
    check_wide();
}

}  // namespace checks
