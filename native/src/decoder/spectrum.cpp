#include "spectrum.h"

#include "sixteen.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace transcribe {

namespace {

// The transforms of sixteen frames at once, as whisper.cpp computes that of one: real numbers in, complex ones out.

inline __attribute__((always_inline)) void transform_slowly(const Spectrum & spectrum, const SixteenFloats * in, int size, SixteenFloats * out) {
    const int step = spectrum.waves / size;
    for (int k = 0; k < size; k++) {
        SixteenFloats real = {};
        SixteenFloats imaginary = {};
        for (int n = 0; n < size; n++) {
            const int at = (k * n * step) % spectrum.waves; // 2 π k n / size
            real += in[n] * spectrum.cosines[at];
            imaginary -= in[n] * spectrum.sines[at];
        }
        out[k * 2 + 0] = real;
        out[k * 2 + 1] = imaginary;
    }
}

// Cooley and Tukey's transform. Both `in` and `out` are followed by memory for the halves.
FOR_EACH_CPU
void transform(const Spectrum & spectrum, SixteenFloats * in, int size, SixteenFloats * out) {
    if (size == 1) {
        out[0] = in[0];
        out[1] = SixteenFloats{};
        return;
    }
    const int half = size / 2;
    if (size - half * 2 == 1) {
        transform_slowly(spectrum, in, size, out);
        return;
    }
    SixteenFloats * even = in + size;
    for (int i = 0; i < half; ++i) {
        even[i] = in[2 * i];
    }
    SixteenFloats * of_even = out + 2 * size;
    transform(spectrum, even, half, of_even);
    SixteenFloats * odd = even;
    for (int i = 0; i < half; ++i) {
        odd[i] = in[2 * i + 1];
    }
    SixteenFloats * of_odd = of_even + size;
    transform(spectrum, odd, half, of_odd);
    const int step = spectrum.waves / size;
    for (int k = 0; k < half; k++) {
        const int at = k * step; // 2 π k / size
        const float real = spectrum.cosines[at];
        const float imaginary = -spectrum.sines[at];
        const SixteenFloats real_odd = of_odd[2 * k + 0];
        const SixteenFloats imaginary_odd = of_odd[2 * k + 1];
        out[2 * k + 0] = of_even[2 * k + 0] + real * real_odd - imaginary * imaginary_odd;
        out[2 * k + 1] = of_even[2 * k + 1] + real * imaginary_odd + imaginary * real_odd;
        out[2 * (k + half) + 0] = of_even[2 * k + 0] - real * real_odd + imaginary * imaginary_odd;
        out[2 * (k + half) + 1] = of_even[2 * k + 1] - real * imaginary_odd - imaginary * real_odd;
    }
}

}  // namespace

void compute_spectrum(const Spectrum & spectrum, const float * samples, int count, int frames, int thread, int threads, float * output) {
    const int size = spectrum.frame_size;
    const int bins = 1 + size / 2;
    std::vector<SixteenFloats> in(size * 2);
    std::vector<SixteenFloats> out(size * 2 * 2 * 2);
    int i = 16 * thread;
    // The others have no samples.
    const int heard = std::min(count / spectrum.frame_step + 1, frames);
    for (; i < heard; i += 16 * threads) {
        for (int j = 0; j < size; j++) {
            for (int frame = 0; frame < 16; frame++) {
                const int at = (i + frame) * spectrum.frame_step + j;
                in[j][frame] = at < count ? spectrum.window[j] * samples[at] : 0.0f;
            }
        }
        transform(spectrum, in.data(), size, out.data());
        for (int j = 0; j < bins; j++) {
            out[j] = out[2 * j + 0] * out[2 * j + 0] + out[2 * j + 1] * out[2 * j + 1];
        }
        for (int j = 0; j < spectrum.mels; j++) {
            const float * filter = spectrum.filters + j * bins;
            SixteenFloats sums = {};
            for (int k = 0; k < bins; k++) {
                // A filter covers a few bins.
                if (filter[k] != 0.0f) {
                    sums += out[k] * filter[k];
                }
            }
            for (int frame = 0; frame < std::min(16, frames - i); frame++) {
                output[j * frames + i + frame] = log10(std::max<double>(sums[frame], 1e-10));
            }
        }
    }
    const double silence = log10(1e-10);
    for (; i < frames; i += 16 * threads) {
        for (int j = 0; j < spectrum.mels; j++) {
            std::fill_n(output + j * frames + i, std::min(16, frames - i), silence);
        }
    }
}

}  // namespace transcribe
