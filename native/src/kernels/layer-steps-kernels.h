// The kernels of layer-steps.cpp, for each kind of instructions.

namespace {

constexpr size_t lanes = 16;
// PyTorch's value, with which Whisper and NeMo's models were trained.
constexpr float epsilon = 1e-5f;
// Largest argument of `power_of_two`.
constexpr float largest_exponent = 126;

INLINE Floats load_or_zeros(const float * numbers, size_t i) {
    return numbers == nullptr ? zeros() : load(numbers + i);
}

// Returns 1 + 2^(-x · log2(e)): the inverse of the sigmoid. `power_of_two` turns NaN into a number, so x · 0 is added.
INLINE Floats inverse_sigmoid(Floats x) {
    const Floats exponent = smallest(multiply(x, same(static_cast<float>(-M_LOG2E))), same(largest_exponent));
    return add(multiply_add(x, zeros(), same(1.0f)), power_of_two(exponent));
}

INLINE Floats silu(Floats x) {
    return divide(x, inverse_sigmoid(x));
}

// Returns x · Φ(x), with Φ by Abramowitz and Stegun 7.1.26 (error below 1e-6).
INLINE Floats gelu(Floats x) {
    const Floats one = same(1.0f);
    const Floats z = multiply(absolute(x), same(static_cast<float>(M_SQRT1_2)));
    const Floats t = divide(one, multiply_add(z, same(0.3275911f), one));
    Floats sum = same(1.061405429f);
    sum = multiply_add(sum, t, same(-1.453152027f));
    sum = multiply_add(sum, t, same(1.421413741f));
    sum = multiply_add(sum, t, same(-0.284496736f));
    sum = multiply_add(sum, t, same(0.254829592f));
    const Floats power = power_of_two(multiply(multiply(z, z), same(static_cast<float>(-M_LOG2E))));
    // half of 1 - erf(z)
    const Floats tail = multiply(multiply(multiply(sum, t), power), same(0.5f));
    return multiply(x, choose_by_sign(x, tail, subtract(one, tail)));
}

}  // namespace

void normalize(const float * input, const Norm & norm, size_t width, float * output) {
    Floats total = zeros();
    for (size_t column = 0; column < width; column += lanes) {
        total = add(total, load(input + column));
    }
    const Floats mean = same(sum_of(total) / static_cast<float>(width));
    Floats squares = zeros();
    for (size_t column = 0; column < width; column += lanes) {
        const Floats distance = subtract(load(input + column), mean);
        squares = multiply_add(distance, distance, squares);
    }
    const float variance = sum_of(squares) / static_cast<float>(width);
    const Floats inverse = same(1.0f / std::sqrt(variance + epsilon)); // of the standard deviation
    for (size_t column = 0; column < width; column += lanes) {
        const Floats normal = multiply(subtract(load(input + column), mean), inverse);
        store(output + column, multiply_add(normal, load(norm.weight + column), load(norm.bias + column)));
    }
}

void convolve(const float * input, size_t row, size_t count, const float * weights, const float * bias, size_t kernel,
              size_t width, float * output) {
    const size_t side = kernel / 2;
    const size_t first = row < side ? side - row : 0;
    const size_t end = std::min(kernel, count + side - row);
    for (size_t column = 0; column < width; column += lanes) {
        Floats sum = load(bias + column);
        for (size_t k = first; k < end; k++) {
            const Floats numbers = load(input + (row + k - side) * width + column);
            sum = multiply_add(numbers, load(weights + k * width + column), sum);
        }
        store(output + column, silu(sum));
    }
}

void store_sums(const float * sums, const float * bias, float * output) {
    for (size_t i = 0; i < panel_outputs; i += lanes) {
        store(output + i, add(load(sums + i), load_or_zeros(bias, i)));
    }
}

void add_sums(const float * sums, float factor, float * output) {
    for (size_t i = 0; i < panel_outputs; i += lanes) {
        store(output + i, multiply_add(load(sums + i), same(factor), load(output + i)));
    }
}

void add_sums_with_bias(const float * sums, const float * bias, float * output) {
    for (size_t i = 0; i < panel_outputs; i += lanes) {
        store(output + i, add(add(load(sums + i), load(bias + i)), load(output + i)));
    }
}

void silu_of_sums(const float * sums, float * output) {
    for (size_t i = 0; i < panel_outputs; i += lanes) {
        store(output + i, silu(load(sums + i)));
    }
}

void gelu_of_sums(const float * sums, const float * bias, float * output) {
    for (size_t i = 0; i < panel_outputs; i += lanes) {
        store(output + i, gelu(add(load(sums + i), load_or_zeros(bias, i))));
    }
}

void gate_sums(const float * sums, float * output) {
    store(output, divide(load(sums), inverse_sigmoid(load(sums + lanes))));
}
