#include "padding.h"

#include <algorithm>

namespace transcribe {

namespace {

// Positions of padding with rows of their own.
constexpr size_t margin = 64;
// Rows after those: one of padding, and the last one, whose convolutions end with zeros.
constexpr size_t extra_rows = 2;

// Positions of padding of which the last layer computes one.
constexpr size_t step = 8;

// Returns the number of frames before those that are all the same.
size_t used_frames(const float * spectrum, size_t mels, size_t frames) {
    const float last = spectrum[frames - 1];
    size_t used = 0;
    for (size_t mel = 0; mel < mels; mel++) {
        const float * row = spectrum + mel * frames;
        size_t end = frames;
        while (end > used && row[end - 1] == last) {
            end--;
        }
        used = std::max(used, end);
    }
    return used;
}

// Returns the number of positions that are computed singly.
size_t single_positions(const float * spectrum, size_t mels, size_t frames) {
    return (used_frames(spectrum, mels, frames) + 3) / 2 + margin;
}

}  // namespace

size_t needed_frames(const float * spectrum, size_t mels, size_t frames) {
    // The second convolution reads the frames from 2 · position - 2 to 2 · position + 2.
    const size_t rows = single_positions(spectrum, mels, frames) + extra_rows;
    return rows + 1 >= frames / 2 ? frames : 2 * rows;
}

size_t row_of(size_t position, size_t rows, size_t positions) {
    return rows == positions ? position : std::min(position, rows - extra_rows);
}

KeptPositions::KeptPositions(const float * spectrum, size_t mels, size_t frames)
    : positions_(frames / 2), exact_(std::min(positions_, single_positions(spectrum, mels, frames))),
      spread_((positions_ - exact_ + step - 1) / step) {}

size_t KeptPositions::at(size_t row) const {
    return row < exact_ ? row : std::min(positions_ - 1, exact_ - 1 + (row - exact_ + 1) * step);
}

void KeptPositions::interpolate(const float * rows, size_t width, float * output) const {
    std::copy_n(rows, exact_ * width, output);
    for (size_t row = exact_; row < count(); row++) {
        const size_t before = at(row - 1);
        const size_t here = at(row);
        const float * from = rows + (row - 1) * width;
        const float * to = from + width;
        for (size_t position = before + 1; position <= here; position++) {
            const float part = static_cast<float>(position - before) / static_cast<float>(here - before);
            std::transform(from, from + width, to, output + position * width,
                           [part](float first, float second) { return first + part * (second - first); });
        }
    }
}

}  // namespace transcribe
