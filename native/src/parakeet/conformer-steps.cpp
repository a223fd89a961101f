#include "conformer-steps.h"

#if defined(__x86_64__)

#include <algorithm>

namespace transcribe {

namespace {

template <typename Step> const Step & step(const void * self) {
    return *static_cast<const Step *>(self);
}

}  // namespace

template <typename Products> void Activate<Products>::take(const void * self, size_t row, const float * sums) {
    const auto & [output, column] = step<Activate>(self);
    alignas(64) float numbers[panel_outputs];
    silu_of_sums(sums, numbers);
    Products::store(numbers, panel_outputs, output, row, column);
}

template struct Activate<ByteProducts>;
template struct Activate<Bfloat16Products>;

void AddTo::take(const void * self, size_t row, const float * sums) {
    const auto & [output, width, factor, column] = step<AddTo>(self);
    add_sums(sums, factor, output + row * width + column);
}

void Gate::take(const void * self, size_t row, const float * sums) {
    const auto & [output, width, column] = step<Gate>(self);
    gate_sums(sums, output + row * width + column);
}

void Turn::take(const void * self, size_t row, const float * sums) {
    const auto & [output, column] = step<Turn>(self);
    output.set(row, column, sums);
    output.set(row, column + panel_outputs / 2, sums + panel_outputs / 2);
}

void SplitHeads::take(const void * self, size_t row, const float * sums) {
    const auto & [output, count, head_width, column] = step<SplitHeads>(self);
    for (size_t i = 0; i < panel_outputs; i += panel_outputs / 2) {
        const size_t head = (column + i) / head_width;
        std::copy(sums + i, sums + i + panel_outputs / 2, output + (head * count + row) * head_width + (column + i) % head_width);
    }
}

}  // namespace transcribe

#endif
