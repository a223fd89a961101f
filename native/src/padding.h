#pragma once

#include <cstddef>

namespace transcribe {

// The silence with which a window is padded has the same spectrum in each frame. Whisper was trained with it, so the encoder
// needs it, but its convolutions are the same for each position, and one position can stand for neighbors: it counts several times
// in attention. Speech is computed whole.

// Returns how many frames of a spectrum, [mels][frames], the convolutions need: all of them if there is little padding.
size_t needed_frames(const float * spectrum, size_t mels, size_t frames);

// The positions that are computed of a window.
class Positions {
public:
    // `rows` is the number of the convolutions' rows, `all` that of the window's positions.
    Positions(size_t rows, size_t all);

    size_t count() const { return single_ + groups_; }

    // Returns the convolutions' row of a computed position.
    size_t row(size_t index) const { return index < single_ ? index : single_; }

    // Returns its place in the window, in the middle of those that it stands for.
    size_t place(size_t index) const;

    // Returns how many positions of the window it stands for.
    size_t times(size_t index) const;

private:
    size_t all_;
    size_t single_;
    size_t groups_;
};

}  // namespace transcribe
