#pragma once

#include <cstddef>

namespace transcribe {

// The silence with which a window is padded has the same spectrum in each frame. Whisper was trained with it, so the encoder
// needs it, but its convolutions are the same for each position: they are computed once, and for the end of the window.

// Returns how many frames of a spectrum, [mels][frames], the convolutions need: all of them if there is little padding.
size_t needed_frames(const float * spectrum, size_t mels, size_t frames);

// Returns the convolutions' row of a position of a window, if they have `rows` for its `positions`.
size_t row_of(size_t position, size_t rows, size_t positions);

// The positions of a window that the encoder's last layer computes: all up to some of padding, and one of eight after those. The
// others are interpolated: only the decoder reads them, for the end of what is said.
class KeptPositions {
public:
    KeptPositions(const float * spectrum, size_t mels, size_t frames);

    size_t count() const { return exact_ + spread_; }
    size_t positions() const { return positions_; }
    // Returns the position of a row.
    size_t at(size_t row) const;
    // Computes the rows of all positions, [positions][width], from those of the kept ones.
    void interpolate(const float * rows, size_t width, float * output) const;

private:
    size_t positions_;
    size_t exact_;
    size_t spread_;
};

}  // namespace transcribe
