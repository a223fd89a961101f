// Checks of packed-weights.cpp: 8-bit weights are reordered, and multiplied with few columns.

#include "decoder/packed-weights.h"
#include "weights.h"

#include <algorithm>
#include <limits>

namespace checks {

using namespace transcribe;

namespace {

constexpr size_t most_columns = 7;
constexpr double rounding = 1e-6;
constexpr double denormal = 1e-32; // numbers far below it may have no correct digit

// Packed weights, and the same in floats.
struct Packed {
    Matrix matrix;
    PackedWeights weights;

    Packed(size_t rows, size_t width, const Bytes & pattern, Random & random)
        : matrix(GGML_TYPE_Q8_0, rows, width, pattern, random), weights{matrix.bytes.data(), rows, width} {
        PackedWeights::pack(matrix.bytes.data(), rows, width);
    }

    // Returns [column][rows + 3]. Memory after a column's last row stays as it is.
    std::vector<float> multiply(const std::vector<float> & input, size_t stride, size_t columns, size_t parts) const {
        std::vector<float> output(columns * (weights.rows + 3), untouched);
        for (size_t part = 0; part < parts; part++) {
            weights.multiply(input.data(), stride, columns, output.data(), weights.rows + 3, part, parts);
        }
        return output;
    }
};

std::vector<float> columns_of(const Pattern & pattern, size_t columns, size_t stride) {
    std::vector<float> input(columns * stride);
    for (size_t i = 0; i < input.size(); i++) {
        input[i] = pattern.number(i / stride, i % stride);
    }
    return input;
}

// A column as the kernels round it, and the largest errors of its numbers.
struct Column {
    std::vector<double> quantized;
    std::vector<double> half_steps;

    Column(const float * numbers, size_t width) {
        for (size_t i = 0; i < width; i++) {
            const float * block = numbers + i / block_width * block_width;
            float most = 0;
            for (size_t k = 0; k < block_width; k++) {
                most = std::max(most, std::fabs(block[k]));
            }
            // AVX2 rounds to 7 bits.
            const float limit = instructions() == Instructions::avx2 ? 64 : 127;
            quantized.push_back(most > 1e-37f ? std::nearbyint(numbers[i] * (limit / most)) * (most / limit) : 0);
            half_steps.push_back(most / (2.0 * limit));
        }
    }
};

void check_products(const Bytes & weights, Random & random) {
    Worst products, unquantized;
    Wrong unpacked, parts, written;
    for (const size_t rows : {1, 15, 16, 17, 35}) {
        for (const size_t width : {size_t{32}, size_t{96}}) {
            const Packed packed(rows, width, weights, random);
            const std::vector<float> & floats = packed.matrix.floats;
            for (size_t row = 0; row < rows; row++) {
                std::vector<float> unpacked_row(width);
                packed.weights.unpack(row, unpacked_row.data());
                unpacked.add(!std::equal(unpacked_row.begin(), unpacked_row.end(), &floats[row * width]));
            }
            for (const Pattern & pattern : input_patterns(random)) {
                for (size_t columns = 1; columns <= most_columns; columns++) {
                    const size_t stride = width + 5;
                    const std::vector<float> input = columns_of(pattern, columns, stride);
                    const std::vector<float> output = packed.multiply(input, stride, columns, 1);
                    parts.add(packed.multiply(input, stride, columns, 2) != output);
                    parts.add(packed.multiply(input, stride, columns, 3) != output);
                    for (size_t column = 0; column < columns; column++) {
                        const float * result = &output[column * (rows + 3)];
                        written.add(std::any_of(result + rows, result + rows + 3, [](float f) { return f != untouched; }));
                        const float * numbers = &input[column * stride];
                        const Column expected(numbers, width);
                        for (size_t row = 0; row < rows; row++) {
                            double sum = 0, size = 0, exact = 0, limit = 0, any = 0;
                            for (size_t i = 0; i < width; i++) {
                                const double weight = floats[row * width + i];
                                sum += expected.quantized[i] * weight;
                                size += std::fabs(expected.quantized[i] * weight);
                                exact += numbers[i] * weight;
                                limit += expected.half_steps[i] * std::fabs(weight);
                                any += std::fabs(weight);
                            }
                            products.add(std::fabs(result[row] - sum) / (size + denormal * (1 + any)));
                            unquantized.add(std::fabs(result[row] - exact) / (limit + rounding * size + denormal * (1 + any)));
                        }
                    }
                }
            }
        }
    }
    const std::string name = std::string("packed weights ") + weights.name;
    unpacked.report(name + ": rows that are not the same after packing");
    report(name + ": a product of quantized numbers", products.error(), rounding);
    report(name + ": a product, to its largest possible error", unquantized.error(), 1);
    parts.report(name + ": products that differ by the number of parts");
    written.report(name + ": columns with numbers after their last one");
}

// A number that is not finite appears in all rows of its column, and changes no other column.
void check_not_finite(const Bytes & weights, Random & random) {
    constexpr size_t rows = 20, width = 96, columns = most_columns;
    const Packed packed(rows, width, weights, random);
    const std::vector<float> input = columns_of(input_patterns(random)[0], columns, width);
    const std::vector<float> good = packed.multiply(input, width, columns, 1);
    Wrong wrong;
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        for (size_t bad_column = 0; bad_column < columns; bad_column++) {
            std::vector<float> with_bad = input;
            with_bad[bad_column * width + 37] = bad;
            const std::vector<float> output = packed.multiply(with_bad, width, columns, 1);
            for (size_t i = 0; i < output.size(); i++) {
                const bool is_bad = i / (rows + 3) == bad_column && i % (rows + 3) < rows;
                wrong.add(is_bad ? !std::isnan(output[i]) : output[i] != good[i]);
            }
        }
    }
    wrong.report("packed weights: outputs of columns with a number that is not finite");
}

}  // namespace

void check_packed_weights() {
    Random random;
    const std::vector<Bytes> patterns = weight_patterns(random);
    for (const Bytes & weights : patterns) {
        check_products(weights, random);
    }
    check_not_finite(patterns[0], random);
}

}  // namespace checks
