#pragma once

#include <cstddef>

namespace transcribe {

// The silence with which a window is padded has the same spectrum in each frame. Whisper was trained with it, so the encoder
// needs it, but its convolutions are the same for each position: they are computed once, and for the end of the window.

// Returns how many frames of a spectrum, [mels][frames], the convolutions need: all of them if there is little padding.
size_t needed_frames(const float * spectrum, size_t mels, size_t frames);

// Returns the convolutions' row of a position of a window, if they have `rows` for its `positions`.
size_t row_of(size_t position, size_t rows, size_t positions);

}  // namespace transcribe
