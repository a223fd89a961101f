#pragma once

namespace transcribe {

// How whisper.cpp computes a log-mel spectrum.
struct Spectrum {
    int frame_size;
    int frame_step;
    const float * window; // [frame_size]
    // Of a whole turn, `waves` numbers each.
    const float * sines;
    const float * cosines;
    int waves;
    const float * filters; // [mels][1 + frame_size / 2]
    int mels;
};

// Computes sixteen of every `threads` times sixteen frames of a spectrum, [mels][frames]. Samples from `count` on are zero.
void compute_spectrum(const Spectrum & spectrum, const float * samples, int count, int frames, int thread, int threads, float * output);

}  // namespace transcribe
