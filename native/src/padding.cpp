#include "padding.h"

#include <algorithm>

namespace transcribe {

namespace {

// Positions of padding with rows of their own.
constexpr size_t margin = 64;
// Rows after those: one of padding, and the last one, whose convolutions end with zeros.
constexpr size_t extra_rows = 2;

}  // namespace

size_t needed_frames(const float * spectrum, size_t mels, size_t frames) {
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
    // The second convolution reads the frames from 2 · position - 2 to 2 · position + 2.
    const size_t rows = (used + 3) / 2 + margin + extra_rows;
    return rows + 1 >= frames / 2 ? frames : 2 * rows;
}

size_t row_of(size_t position, size_t rows, size_t positions) {
    return rows == positions ? position : std::min(position, rows - extra_rows);
}

}  // namespace transcribe
