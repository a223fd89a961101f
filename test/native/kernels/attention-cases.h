#pragma once

#include "checks.h"
#include "encoder/attention.h"

#include <algorithm>
#include <limits>
#include <vector>

// Cases of attention, and its reference.
namespace checks {

constexpr size_t width = transcribe::head_width;

// Computes softmax(scale · query · keys) · values, with `padding` more positions whose keys and values are zero. `key` and
// `value` return a position's channel.
template <typename Key, typename Value>
std::vector<double> reference(const float * query, double scale, size_t positions, size_t padding, const Key & key,
                              const Value & value) {
    std::vector<double> scores(positions);
    double most = padding > 0 ? 0 : -std::numeric_limits<double>::infinity();
    for (size_t at = 0; at < positions; at++) {
        for (size_t d = 0; d < width; d++) {
            scores[at] += scale * query[d] * key(at, d);
        }
        most = std::max(most, scores[at]);
    }
    std::vector<double> output(width);
    double total = padding > 0 ? static_cast<double>(padding) * std::exp(-most) : 0;
    for (size_t at = 0; at < positions; at++) {
        const double weight = std::exp(scores[at] - most);
        total += weight;
        for (size_t d = 0; d < width; d++) {
            output[d] += weight * value(at, d);
        }
    }
    for (double & number : output) {
        number /= total;
    }
    return output;
}

// Numbers of attention by position and channel, and the largest error of an output.
template <typename Limit> struct Case {
    const char * name;
    float (*query)(Random &, size_t at, size_t d);
    float (*key)(Random &, size_t at, size_t d);
    float (*value)(Random &, size_t at, size_t d);
    Limit limit;
};

inline float normal(Random & random, size_t, size_t) {
    return random.normal();
}

inline float times_30(Random & random, size_t, size_t) {
    return 30 * random.normal();
}

inline float zero(Random &, size_t, size_t) {
    return 0;
}

inline float two(Random &, size_t, size_t) {
    return 2;
}

inline float alternating(Random &, size_t at, size_t d) {
    return (at + d) % 2 == 0 ? 2.0f : -2.0f;
}

// Sums of products stay above zero for many positions, and then below.
inline float halves(Random &, size_t at, size_t) {
    return at < 700 ? 1.0f : -1.0f;
}

inline float far_from_zero(Random & random, size_t, size_t d) {
    return 20 + static_cast<float>(d % 7) + random.normal();
}

// A number between -1 and 1 that is the same in queries and keys.
inline float noise(Random &, size_t at, size_t d) {
    const double number = std::sin(1.0 + 12.9898 * static_cast<double>(at) + 78.233 * static_cast<double>(d)) * 43758.5453;
    return static_cast<float>(2 * (number - std::floor(number)) - 1);
}

inline float large_noise(Random & random, size_t at, size_t d) {
    return 1000 * noise(random, at, d);
}

}  // namespace checks
