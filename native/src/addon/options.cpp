#include "options.h"

namespace transcribe {

namespace {

float number(const Napi::Object & object, const char * name) {
    return object.Get(name).As<Napi::Number>().FloatValue();
}

int integer(const Napi::Object & object, const char * name) {
    return object.Get(name).As<Napi::Number>().Int32Value();
}

bool flag(const Napi::Object & object, const char * name) {
    return object.Get(name).As<Napi::Boolean>().Value();
}

std::string text(const Napi::Object & object, const char * name) {
    return object.Get(name).As<Napi::String>().Utf8Value();
}

}  // namespace

Options read_options(const Napi::Object & object) {
    Options options;
    options.language = text(object, "language");
    options.initial_prompt = text(object, "initialPrompt");
    options.prefix = text(object, "prefix");
    options.max_tokens = integer(object, "maxTokens");
    options.threads = integer(object, "threads");
    options.beam_size = integer(object, "beamSize");
    options.audio_context = integer(object, "audioContext");
    options.temperature_increment = number(object, "temperatureIncrement");
    options.entropy_threshold = number(object, "entropyThreshold");
    options.log_probability_threshold = number(object, "logProbThreshold");
    options.no_speech_threshold = number(object, "noSpeechThreshold");
    options.without_timestamps = flag(object, "withoutTimestamps");
    options.suppress_non_speech = flag(object, "suppressNonSpeech");
    options.translate = flag(object, "translate");
    return options;
}

whisper_full_params to_whisper_params(const Options & options) {
    whisper_full_params params =
        whisper_full_default_params(options.beam_size > 1 ? WHISPER_SAMPLING_BEAM_SEARCH : WHISPER_SAMPLING_GREEDY);
    params.n_threads = options.threads;
    params.language = options.language.c_str();
    params.initial_prompt = options.initial_prompt.empty() ? nullptr : options.initial_prompt.c_str();
    params.max_tokens = options.max_tokens;
    params.audio_ctx = options.audio_context;
    params.temperature_inc = options.temperature_increment;
    params.entropy_thold = options.entropy_threshold;
    params.logprob_thold = options.log_probability_threshold;
    params.no_speech_thold = options.no_speech_threshold;
    params.no_timestamps = options.without_timestamps;
    params.suppress_nst = options.suppress_non_speech;
    params.translate = options.translate;
    if (options.beam_size > 1) {
        params.beam_search.beam_size = options.beam_size;
    }
    // Calls are independent: text of an earlier recording must not influence the next.
    params.no_context = true;
    params.print_progress = false;
    params.print_timestamps = false;
    return params;
}

}  // namespace transcribe
