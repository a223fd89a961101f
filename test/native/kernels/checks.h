#pragma once

#include "kernels/lanes/instructions.h"

#include <cmath>
#include <cstddef>
#include <random>
#include <string>

namespace checks {

// Prints a check with its largest error and the limit. The program fails if one error is above its limit or not a number.
void report(const std::string & name, double error, double limit);

// The checks of each group of kernels.
void check_quantized();
void check_packed_weights();
void check_cross_attention();
void check_attention();
void check_steps();
void check_layers();
void check_sixteen();

inline bool has_avx512() {
    return transcribe::instructions() >= transcribe::Instructions::avx512;
}

// The same numbers in each run.
class Random {
public:
    float normal() { return normal_(engine_); }
    unsigned bits() { return static_cast<unsigned>(engine_()); }

private:
    std::mt19937 engine_{1};
    std::normal_distribution<float> normal_;
};

// The largest of many errors; one that is not a number stays.
class Worst {
public:
    void add(double error) {
        if (!(error <= error_)) {
            error_ = std::isnan(error_) ? error_ : error;
        }
    }
    double error() const { return error_; }

private:
    double error_ = 0;
};

// Counts values that are not what they must be.
class Wrong {
public:
    void add(bool is_wrong) { count_ += is_wrong; }
    void report(const std::string & name) const { checks::report(name, static_cast<double>(count_), 0); }

private:
    size_t count_ = 0;
};

// A number in memory that no kernel may write.
constexpr float untouched = -12345.5f;

}  // namespace checks
