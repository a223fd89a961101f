#include "probabilities.h"

#include "sixteen.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace transcribe {

namespace {

// Loads the numbers from i on; those past the end are minus infinity.
inline __attribute__((always_inline)) void load(const float * x, int n, int i, SixteenFloats & numbers) {
    if (i + 16 <= n) {
        memcpy(&numbers, x + i, sizeof(numbers));
    } else {
        numbers = SixteenFloats{} - INFINITY;
        memcpy(&numbers, x + i, (n - i) * sizeof(float));
    }
}

// Computes e^x for x <= 0 with a relative error of 1e-7; 0 if the result is smaller than any relevant probability.
inline __attribute__((always_inline)) void exponential(SixteenFloats & x) {
    const SixteenInts is_none = x < -87.0f;
    x = is_none ? SixteenFloats{} : x;
    // x = whole · log(2) + rest; the added constant leaves an integer in the last bits
    const SixteenFloats moved = x * 1.44269504f + 12582912.0f;
    const SixteenFloats whole = moved - 12582912.0f;
    const SixteenFloats rest = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    // Taylor series up to the sixth power on [-log(2)/2, log(2)/2]
    SixteenFloats sum = rest * 1.38888e-3f + 8.33333e-3f;
    sum = sum * rest + 4.16666667e-2f;
    sum = sum * rest + 1.66666667e-1f;
    sum = sum * rest + 0.5f;
    sum = sum * rest + 1.0f;
    sum = sum * rest + 1.0f;
    const SixteenInts power = (__builtin_convertvector(whole, SixteenInts) + 127) << 23;
    x = is_none ? SixteenFloats{} : sum * (SixteenFloats)power;
}

}  // namespace

FOR_EACH_CPU
float largest(const float * numbers, int count) {
    SixteenFloats most = SixteenFloats{} - INFINITY;
    for (int i = 0; i < count; i += 16) {
        SixteenFloats next;
        load(numbers, count, i, next);
        most = next > most ? next : most;
    }
    float result = most[0];
    for (int j = 1; j < 16; ++j) {
        result = std::max(result, most[j]);
    }
    return result;
}

FOR_EACH_CPU
float log_of_sum(const float * numbers, int count, float most) {
    if (most == -INFINITY) {
        return most;
    }
    SixteenFloats sums = {};
    for (int i = 0; i < count; i += 16) {
        SixteenFloats next;
        load(numbers, count, i, next);
        next -= most;
        exponential(next);
        sums += next;
    }
    float sum = 0.0f;
    for (int j = 0; j < 16; ++j) {
        sum += sums[j];
    }
    return logf(sum) + most;
}

FOR_EACH_CPU
void probabilities(const float * logarithms, int count, float * output) {
    for (int i = 0; i < count; i += 16) {
        SixteenFloats next;
        load(logarithms, count, i, next);
        exponential(next);
        memcpy(output + i, &next, std::min(16, count - i) * sizeof(float));
    }
}

}  // namespace transcribe
