// Checks of the files of decoder/ that compute sixteen numbers at once on any CPU: probabilities, the rounding of weights, medians
// and spectra.

#include "decoder/median-filter.h"
#include "decoder/probabilities.h"
#include "decoder/quantize-weights.h"
#include "decoder/spectrum.h"
#include "step-references.h"

#include <ggml-cpp.h>
#include <ggml.h>

#include <cstring>

namespace checks {

using namespace transcribe;

namespace {

constexpr float nothing = -std::numeric_limits<float>::infinity();

void check_probabilities() {
    Random random;
    Wrong largest_wrong, after_end;
    Worst sums, exponentials;
    for (const int count : {1, 2, 15, 16, 17, 100, 256, 51'865}) {
        std::vector<float> logits = normal_numbers(random, static_cast<size_t>(count), 10);
        for (int i = 1; i < count; i += 7) {
            logits[static_cast<size_t>(i)] = nothing; // a forbidden token
        }
        const float most = *std::max_element(logits.begin(), logits.end());
        largest_wrong.add(largest(logits.data(), count) != most);
        double sum = 0;
        for (const float logit : logits) {
            sum += std::exp(static_cast<double>(logit) - most);
        }
        const float log_sum = log_of_sum(logits.data(), count, most);
        sums.add(std::fabs(log_sum - (std::log(sum) + most)) / (1 + std::fabs(log_sum)));
        std::vector<float> output(static_cast<size_t>(count) + 1, untouched);
        for (float & logit : logits) {
            logit -= log_sum;
        }
        probabilities(logits.data(), count, output.data());
        for (size_t i = 0; i < logits.size(); i++) {
            exponentials.add(std::fabs(output[i] - std::exp(static_cast<double>(logits[i]))));
        }
        after_end.add(output.back() != untouched);
    }
    const std::vector<float> forbidden(40, nothing);
    largest_wrong.add(largest(forbidden.data(), 40) != nothing || log_of_sum(forbidden.data(), 40, nothing) != nothing);
    largest_wrong.report("probabilities: largest numbers");
    report("probabilities: logarithm of a sum", sums.error(), 1e-6);
    report("probabilities: exponentials", exponentials.error(), 3e-7);
    after_end.report("probabilities: numbers after the last one that were written");
}

void check_quantize_weights() {
    Random random;
    Worst error;
    Wrong scales;
    for (const float size : {0.0f, 0.01f, 0.05f, 30.0f}) {
        const std::vector<float> numbers = normal_numbers(random, 512, size);
        std::vector<ggml_fp16_t> halves(numbers.size());
        ggml_fp32_to_fp16_row(numbers.data(), halves.data(), static_cast<int64_t>(numbers.size()));
        std::vector<float> rounded(numbers.size()), back(numbers.size());
        ggml_fp16_to_fp32_row(halves.data(), rounded.data(), static_cast<int64_t>(numbers.size()));
        std::vector<uint8_t> own(ggml_row_size(GGML_TYPE_Q8_0, 512)), expected(own.size());
        quantize_weights(halves.data(), 512, own.data());
        ggml_quantize_chunk(GGML_TYPE_Q8_0, rounded.data(), expected.data(), 0, 1, 512, nullptr);
        ggml_get_type_traits(GGML_TYPE_Q8_0)->to_float(own.data(), back.data(), 512);
        for (size_t block = 0; block < own.size(); block += 34) {
            scales.add(std::memcmp(&own[block], &expected[block], 2) != 0);
        }
        for (size_t i = 0; i < back.size(); i++) {
            const auto first = rounded.begin() + static_cast<std::ptrdiff_t>(i / 32 * 32);
            const float most = std::fabs(*std::max_element(first, first + 32, [](float a, float b) { return std::fabs(a) < std::fabs(b); }));
            error.add(most == 0 ? back[i] : std::fabs(back[i] - rounded[i]) / most);
        }
    }
    scales.report("weights in bytes: scales that are not ggml's");
    report("weights in bytes: error of a number, relative to the largest of its block", error.error(), 0.0045);
}

void check_medians() {
    Random random;
    Wrong wrong;
    const ggml_context_ptr context(ggml_init({1 << 20, nullptr, false}));
    for (const int tokens : {1, 15, 16, 17, 40}) {
        for (const int width : {1, 3, 7}) {
            constexpr int heads = 3, positions = 20;
            // [tokens][heads][positions], seen as [heads][tokens][positions].
            ggml_tensor * memory = ggml_new_tensor_3d(context.get(), GGML_TYPE_F32, tokens, heads, positions);
            ggml_tensor * input = ggml_permute(context.get(), memory, 1, 0, 2, 3);
            ggml_tensor * output = ggml_new_tensor_3d(context.get(), GGML_TYPE_F32, heads, tokens, positions);
            auto * numbers = static_cast<float *>(memory->data);
            std::generate_n(numbers, ggml_nelements(memory), [&] { return std::round(4 * random.normal()); });
            int used = width;
            filter_medians(output, input, 0, 1, &used);
            for (int position = 0; position < positions; position++) {
                for (int at = 0; at < heads * tokens; at++) {
                    std::vector<float> window;
                    for (int from = position - width / 2; from <= position + width / 2; from++) {
                        const int reflected = from < 0 ? -from : from >= positions ? 2 * (positions - 1) - from : from;
                        window.push_back(numbers[reflected * heads * tokens + at]);
                    }
                    std::sort(window.begin(), window.end());
                    const int head = at / tokens, token = at % tokens;
                    const float found = static_cast<float *>(output->data)[(position * tokens + token) * heads + head];
                    wrong.add(found != window[window.size() / 2]);
                }
            }
        }
    }
    wrong.report("medians");
}

void check_spectrum() {
    constexpr int size = 400, step = 160, bins = 1 + size / 2, mels = 5, frames = 40;
    Random random;
    std::vector<float> window(size), sines(size), cosines(size), filters(mels * bins, 0.0f);
    for (int i = 0; i < size; i++) {
        const double turn = 2 * M_PI * i / size;
        window[static_cast<size_t>(i)] = static_cast<float>(0.5 - 0.5 * std::cos(turn));
        sines[static_cast<size_t>(i)] = static_cast<float>(std::sin(turn));
        cosines[static_cast<size_t>(i)] = static_cast<float>(std::cos(turn));
    }
    for (int mel = 0; mel < mels; mel++) {
        for (int bin = 30 * mel; bin < 30 * mel + 40; bin++) {
            filters[static_cast<size_t>(mel * bins + bin)] = 0.01f * static_cast<float>(1 + bin % 5);
        }
    }
    const Spectrum spectrum{size, step, window.data(), sines.data(), cosines.data(), size, filters.data(), mels};
    Worst error;
    Wrong threads_differ;
    for (const int count : {1, 300, 3'333}) {
        const std::vector<float> samples = normal_numbers(random, static_cast<size_t>(count), 0.1f);
        std::vector<float> output(mels * frames, untouched), by_three(output);
        compute_spectrum(spectrum, samples.data(), count, frames, 0, 1, output.data());
        for (const int thread : {2, 0, 1}) {
            compute_spectrum(spectrum, samples.data(), count, frames, thread, 3, by_three.data());
        }
        threads_differ.add(by_three != output);
        for (int frame = 0; frame < frames; frame++) {
            std::vector<double> energies(bins, 0.0);
            for (int bin = 0; bin < bins; bin++) {
                double real = 0, imaginary = 0;
                for (int i = 0; i < size && frame * step + i < count; i++) {
                    const double value = static_cast<double>(window[static_cast<size_t>(i)]) * samples[static_cast<size_t>(frame * step + i)];
                    real += value * std::cos(2 * M_PI * bin * i / size);
                    imaginary -= value * std::sin(2 * M_PI * bin * i / size);
                }
                energies[static_cast<size_t>(bin)] = real * real + imaginary * imaginary;
            }
            for (int mel = 0; mel < mels; mel++) {
                double sum = 0;
                for (int bin = 0; bin < bins; bin++) {
                    sum += energies[static_cast<size_t>(bin)] * filters[static_cast<size_t>(mel * bins + bin)];
                }
                error.add(std::fabs(output[static_cast<size_t>(mel * frames + frame)] - std::log10(std::max(sum, 1e-10))));
            }
        }
    }
    report("spectrum: error of a logarithm", error.error(), 1e-4);
    threads_differ.report("spectrum: results that differ with three threads");
}

}  // namespace

void check_sixteen() {
    check_probabilities();
    check_quantize_weights();
    check_medians();
    check_spectrum();
}

}  // namespace checks
