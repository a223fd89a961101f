#pragma once

#include <napi.h>
#include <whisper.h>

#include <string>
#include <vector>

// The result of one transcription, copied out of whisper.cpp so that the state can be used again.
namespace transcribe {

// One or more tokens whose bytes form whole UTF-8 characters. Times are in units of 10 ms from the start of the samples;
// -1 means none.
struct Piece {
    std::string text;
    float probability;   // mean of its tokens, 0 to 1
    int64_t aligned_end; // end of its last token, by alignment (DTW)
    bool is_given;       // whether all its tokens are of the prefix
};

struct Segment {
    int64_t start; // units of 10 ms
    int64_t end;
    float no_speech_probability;
    float average_log_probability; // over its text tokens that were not given
    std::vector<Piece> pieces;
};

struct Transcript {
    bool aborted = false;
    std::string language;
    std::vector<Segment> segments;
};

// Returns the segments of the state's last run, without special tokens and timestamps. The first `given` tokens are the prefix.
std::vector<Segment> read_segments(whisper_context * context, whisper_state * state, size_t given);

Napi::Value to_javascript(Napi::Env env, const Transcript & transcript);

}  // namespace transcribe
