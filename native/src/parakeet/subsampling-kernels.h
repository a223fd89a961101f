// The kernels of subsampling.cpp, for each kind of instructions.

namespace {

constexpr size_t lanes = register_lanes;
// Uses 24 of AVX-512's 32 registers as sums, and 12 of AVX2's 16.
constexpr size_t rows = 6;
constexpr size_t columns = HAS_AVX512 ? 4 : 2;

// Each channel has its own input, or all have the same one.
template <bool depthwise>
void convolve(const Span & input, long row, const float * weights, const float * bias, size_t channels, float * output) {
    const float * from[3] = {input.row(2 * row - 1), input.row(2 * row), input.row(2 * row + 1)};
    const size_t mels = (input.mels + 1) / 2;
    for (size_t channel = 0; channel < channels; channel += lanes) {
        FloatRegister factors[kernel];
        for (size_t k = 0; k < kernel; k++) {
            factors[k] = load_float_register(weights + k * channels + channel);
        }
        const FloatRegister start = load_float_register(bias + channel);
        for (size_t mel = 0; mel < mels; mel++) {
            FloatRegister sum = start;
            for (size_t time = 0; time < 3; time++) {
                if (from[time] == nullptr) {
                    continue;
                }
                for (size_t side = 0; side < 3; side++) {
                    const size_t at = 2 * mel + side;
                    if (at == 0 || at > input.mels) {
                        continue;
                    }
                    const float * number = from[time] + (at - 1) * input.width;
                    const FloatRegister value =
                        depthwise ? load_float_register(number + channel) : same_float_register(*number);
                    sum = multiply_add(value, factors[time * 3 + side], sum);
                }
            }
            if (!depthwise) {
                sum = largest(sum, same_float_register(0));
            }
            store_float_register(output + mel * channels + channel, sum);
        }
    }
}

template <size_t many>
void multiply_tile(const float * const * input, const float * weights, const float * bias, size_t channels,
                   float * const * output) {
    FloatRegister sums[rows][many];
    for (auto & row : sums) {
        for (size_t c = 0; c < many; c++) {
            row[c] = load_float_register(bias + c * lanes);
        }
    }
    for (size_t k = 0; k < channels; k++) {
        FloatRegister factors[many];
        for (size_t c = 0; c < many; c++) {
            factors[c] = load_float_register(weights + k * channels + c * lanes);
        }
        for (size_t r = 0; r < rows; r++) {
            const FloatRegister number = same_float_register(input[r][k]);
            for (size_t c = 0; c < many; c++) {
                sums[r][c] = multiply_add(number, factors[c], sums[r][c]);
            }
        }
    }
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < many; c++) {
            store_float_register(output[r] + c * lanes, largest(sums[r][c], same_float_register(0)));
        }
    }
}

}  // namespace

void convolve_spectrum(const Span & input, long row, const float * weights, const float * bias, size_t channels, float * output) {
    convolve<false>(input, row, weights, bias, channels, output);
}

void convolve_channels(const Span & input, long row, const float * weights, const float * bias, size_t channels, float * output) {
    convolve<true>(input, row, weights, bias, channels, output);
}

void convolve_points(const float * input, size_t count, const float * weights, const float * bias, size_t channels,
                     float * output) {
    for (size_t column = 0; column < channels;) {
        const size_t many = channels - column >= columns * lanes ? columns : 1;
        for (size_t row = 0; row < count; row += rows) {
            const float * from[rows];
            float * to[rows];
            for (size_t r = 0; r < rows; r++) {
                const size_t position = std::min(row + r, count - 1);
                from[r] = input + position * channels;
                to[r] = output + position * channels + column;
            }
            if (many == columns) {
                multiply_tile<columns>(from, weights + column, bias + column, channels, to);
            } else {
                multiply_tile<1>(from, weights + column, bias + column, channels, to);
            }
        }
        column += many * lanes;
    }
}
