// Checks of encoder-layers.cpp: the layers of Whisper's encoder, which use most kernels.

#include "encoder/encoder-layers.h"

#include "encoder/attention.h"
#include "step-references.h"
#include "weights.h"

namespace checks {

using namespace transcribe;

namespace {

// A product's weights and bias.
struct Weights {
    WideMatrix matrix;
    std::vector<float> bias;

    Weights(size_t outputs, size_t inputs, Random & random)
        : matrix(outputs, inputs, [&](size_t, size_t) { return random.normal() / std::sqrt(static_cast<float>(inputs)); }),
          bias(normal_numbers(random, outputs, 0.1f)) {}

    Product product() const { return {matrix.panels.get(), bias.data(), matrix.inputs, matrix.outputs}; }

    std::vector<double> multiply(const std::vector<double> & input) const {
        std::vector<double> output(bias.begin(), bias.end());
        for (size_t o = 0; o < output.size(); o++) {
            for (size_t i = 0; i < matrix.inputs; i++) {
                output[o] += input[i] * matrix.weights[o * matrix.inputs + i];
            }
        }
        return output;
    }
};

constexpr size_t layer_width = 128;
constexpr size_t heads = layer_width / head_width;

// Checks what a layer adds to a residual stream. `expected` computes it from the normalized rows.
template <typename Layer, typename Expected>
void check_layer(const char * name, const Layer & layer, const Norm & norm, bool mixes_rows,
                 const Expected & expected) {
    Random random;
    Wrong threads, bad;
    double errors = 0, sizes = 0;
    for (const size_t count : {1, 47, 48, 49, 100}) {
        const std::vector<float> stream = normal_numbers(random, count * layer_width);
        const auto added = [&](std::vector<float> numbers, size_t with_threads) {
            layer.add_to(numbers.data(), count, with_threads);
            return numbers;
        };
        const std::vector<float> output = added(stream, 1);
        threads.add(added(stream, 2) != output);
        std::vector<std::vector<double>> rows;
        for (size_t row = 0; row < count; row++) {
            rows.push_back(normalized(&stream[row * layer_width], layer_width, norm.weight, norm.bias));
        }
        const std::vector<double> changes = expected(rows);
        std::vector<float> with_bad = stream;
        with_bad[count / 2 * layer_width + 77] = not_a_number;
        const std::vector<float> bad_output = added(with_bad, 2);
        for (size_t i = 0; i < changes.size(); i++) {
            const double error = output[i] - (stream[i] + changes[i]);
            errors += error * error;
            sizes += changes[i] * changes[i];
            const bool is_bad = mixes_rows || i / layer_width == count / 2;
            bad.add(is_bad ? !std::isnan(bad_output[i]) : bad_output[i] != output[i]);
        }
    }
    report(std::string(name) + ": the error, relative to the result", std::sqrt(errors / sizes), 0.04);
    threads.report(std::string(name) + ": results that differ by the number of threads");
    bad.report(std::string(name) + ": outputs of rows with a number that is none");
}

// The kept positions have the results of the whole layer. The others lie on lines between them.
void check_kept(const AttentionLayer & layer) {
    Wrong same, interpolated, places;
    for (const size_t used : {1, 100, 1000, 2850, 3000}) {
        constexpr size_t mels = 2, frames = 3000, positions = frames / 2;
        std::vector<float> spectrum(mels * frames, -1);
        std::fill_n(spectrum.begin() + frames, used, 0.5f);
        const KeptPositions kept(spectrum.data(), mels, frames);
        Random random;
        const std::vector<float> stream = normal_numbers(random, positions * layer_width);
        std::vector<float> whole = stream, some(kept.count() * layer_width), all(positions * layer_width, not_a_number);
        layer.add_to(whole.data(), positions, 2);
        layer.add_to_kept(stream.data(), kept, some.data(), 2);
        kept.interpolate(some.data(), layer_width, all.data());
        places.add(kept.positions() != positions || kept.at(0) != 0 || kept.at(kept.count() - 1) != positions - 1);
        for (size_t row = 0; row < kept.count(); row++) {
            const size_t at = kept.at(row);
            same.add(!std::equal(&some[row * layer_width], &some[row * layer_width] + layer_width, &whole[at * layer_width]));
            interpolated.add(std::fabs(all[at * layer_width] - whole[at * layer_width]) > 1e-5f);
            for (size_t between = row > 0 ? kept.at(row - 1) + 1 : 0; between < at; between++) {
                const double part = static_cast<double>(at - between) / static_cast<double>(at - kept.at(row - 1));
                const double line = part * some[(row - 1) * layer_width] + (1 - part) * some[row * layer_width];
                interpolated.add(!(std::fabs(all[between * layer_width] - line) < 1e-5));
            }
            // Frames of speech, and the padding close to them, are computed.
            places.add(row > 0 && at > kept.at(row - 1) + (at <= used / 2 + 64 ? 1 : 8));
        }
    }
    same.report("kept positions: results that differ from the layer's");
    interpolated.report("kept positions: numbers of others that are not on a line");
    places.report("kept positions: places");
}

}  // namespace

void check_layers() {
    Random random;
    const std::vector<float> norm_weight = normal_numbers(random, layer_width, 0.1f, 1);
    const std::vector<float> norm_bias = normal_numbers(random, layer_width, 0.1f);
    const Norm norm{norm_weight.data(), norm_bias.data()};
    const Weights projections(3 * layer_width, layer_width, random), output(layer_width, layer_width, random);
    const AttentionLayer attention{norm, projections.product(), output.product()};
    check_layer("attention layer", attention, norm, true, [&](const std::vector<std::vector<double>> & rows) {
        std::vector<std::vector<double>> projected;
        for (const auto & row : rows) {
            projected.push_back(projections.multiply(row));
        }
        std::vector<double> changes;
        for (const auto & query : projected) {
            std::vector<double> mixed(layer_width);
            for (size_t first = 0; first < layer_width; first += head_width) {
                double total = 0;
                for (const auto & key : projected) {
                    double score = 0;
                    for (size_t d = first; d < first + head_width; d++) {
                        score += query[d] * key[layer_width + d] / 8;
                    }
                    total += std::exp(score);
                    for (size_t d = first; d < first + head_width; d++) {
                        mixed[d] += std::exp(score) * key[2 * layer_width + d];
                    }
                }
                std::for_each_n(&mixed[first], head_width, [&](double & number) { number /= total; });
            }
            const std::vector<double> change = output.multiply(mixed);
            changes.insert(changes.end(), change.begin(), change.end());
        }
        return changes;
    });
    check_kept(attention);

    const Weights first(4 * layer_width, layer_width, random), second(layer_width, 4 * layer_width, random);
    const FeedForwardLayer feed_forward{norm, first.product(), second.product()};
    check_layer("feed-forward layer", feed_forward, norm, false, [&](const std::vector<std::vector<double>> & rows) {
        std::vector<double> changes;
        for (const auto & row : rows) {
            std::vector<double> inner = first.multiply(row);
            std::transform(inner.begin(), inner.end(), inner.begin(), exact_gelu);
            const std::vector<double> change = second.multiply(inner);
            changes.insert(changes.end(), change.begin(), change.end());
        }
        return changes;
    });
}

}  // namespace checks
