#pragma once

#include "checks.h"

#include <algorithm>
#include <limits>
#include <vector>

// References of the steps of a layer.
namespace checks {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

inline std::vector<float> normal_numbers(Random & random, size_t count, float size = 1, float mean = 0) {
    std::vector<float> numbers(count);
    std::generate(numbers.begin(), numbers.end(), [&] { return mean + size * random.normal(); });
    return numbers;
}

inline double sigmoid(double x) {
    return 1 / (1 + std::exp(-x));
}

inline double exact_gelu(double x) {
    return x / 2 * std::erfc(-x / std::sqrt(2.0));
}

// A row's layer normalization.
inline std::vector<double> normalized(const float * row, size_t width, const float * weight, const float * bias) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < width; i++) {
        mean += row[i] / static_cast<double>(width);
    }
    for (size_t i = 0; i < width; i++) {
        variance += (row[i] - mean) * (row[i] - mean) / static_cast<double>(width);
    }
    std::vector<double> output(width);
    for (size_t i = 0; i < width; i++) {
        output[i] = (row[i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i];
    }
    return output;
}

}  // namespace checks
