#pragma once

#include <napi.h>
#include <whisper.h>

#include <string>

namespace transcribe {

// How to transcribe. Every field is set by the caller: the defaults are kept in one place, in TypeScript.
struct Options {
    std::string language;
    std::string initial_prompt;
    std::string prefix; // text with which the transcript begins; needs without_timestamps
    int max_tokens; // most tokens after the prefix; 0: whisper.cpp's limit
    int threads;
    int beam_size; // 1: greedy
    int audio_context; // encoder positions of 20 ms each; 0: all 1500
    float temperature_increment; // 0: no second pass
    float entropy_threshold;
    float log_probability_threshold;
    float no_speech_threshold;
    bool without_timestamps;
    bool suppress_non_speech;
    bool translate; // writes English, whatever language is spoken
};

Options read_options(const Napi::Object & object);

// The parameters point into the options, which must outlive them.
whisper_full_params to_whisper_params(const Options & options);

}  // namespace transcribe
