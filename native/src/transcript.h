#pragma once

#include <napi.h>
#include <whisper.h>

#include <string>
#include <vector>

// What one transcription gave, copied out of whisper.cpp so that the state can go on.
namespace transcribe {

// One or more tokens whose bytes are whole UTF-8 characters together. Times in units of 10 ms from
// the start of the samples, -1 where there is none.
struct Piece {
    std::string text;
    float probability;     // the mean of its tokens', 0 to 1
    int64_t aligned_end;   // by alignment (DTW) of its last token: the moment that token was over
    int64_t guessed_start; // from timestamp probabilities, coarse; there where alignment is off
    int64_t guessed_end;
};

struct Segment {
    int64_t start; // units of 10 ms
    int64_t end;
    float no_speech_probability;
    float average_log_probability; // over its text tokens
    std::vector<Piece> pieces;
};

struct Transcript {
    bool aborted = false;
    std::string language;
    std::vector<Segment> segments;
};

// Reads the segments of the state's last run. Special tokens and timestamps are left out.
std::vector<Segment> read_segments(whisper_context * context, whisper_state * state);

Napi::Value to_javascript(Napi::Env env, const Transcript & transcript);

}  // namespace transcribe
