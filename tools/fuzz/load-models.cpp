// Loads the model files in standard input, with a kind and a path on each line, and writes for each whether it was loaded.
// It also transcribes a short noise with each model: one that the loader accepts must be safe to use.
#include "parakeet.h"
#include "whisper.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

static void quiet(enum ggml_log_level, const char *, void *) {}

static std::vector<float> noise(size_t n_samples) {
    std::vector<float> samples(n_samples);
    for (size_t i = 0; i < samples.size(); ++i) {
        samples[i] = 0.1f*std::sin(0.05f*i) + 0.01f*(i % 7);
    }
    return samples;
}

static void transcribe(whisper_context * context, size_t n_samples) {
    const std::vector<float> samples = noise(n_samples);
    whisper_full_params full = whisper_full_default_params(WHISPER_SAMPLING_GREEDY);
    full.n_threads = 1;
    full.max_tokens = 4;
    full.temperature_inc = 0.0f;
    full.print_progress = false;
    whisper_full(context, full, samples.data(), samples.size());
}

static bool load_whisper(const std::string & path) {
    whisper_context_params params = whisper_context_default_params();
    params.use_gpu = false;
    params.flash_attn = true;
    params.dtw_token_timestamps = true;
    params.dtw_aheads_preset = WHISPER_AHEADS_N_TOP_MOST;
    params.dtw_n_top = 1;
    whisper_context * context = whisper_init_from_file_with_params(path.c_str(), params);
    if (context == nullptr) {
        return false;
    }
    // The first one is shorter than the padding that is mirrored before its start.
    transcribe(context, 100);
    transcribe(context, 16000);
    whisper_free(context);
    return true;
}

static bool load_parakeet(const std::string & path) {
    parakeet_context_params params = parakeet_context_default_params();
    params.use_gpu = false;
    parakeet_context * context = parakeet_init_from_file_with_params_no_state(path.c_str(), params);
    if (context == nullptr) {
        return false;
    }
    parakeet_state * state = parakeet_init_state(context);
    parakeet_full_params full = parakeet_full_default_params(PARAKEET_SAMPLING_GREEDY);
    full.n_threads = 1;
    // The shortest window of the addon, and one of several frames.
    for (const size_t n_samples : {1600, 16000}) {
        const std::vector<float> samples = noise(n_samples);
        parakeet_full_with_state(context, state, full, samples.data(), samples.size());
    }
    parakeet_free_state(state);
    parakeet_free(context);
    return true;
}

int main() {
    whisper_log_set(quiet, nullptr);
    parakeet_log_set(quiet, nullptr);
    std::string kind, path;
    while (std::cin >> kind && std::getline(std::cin >> std::ws, path)) {
        const bool loaded = kind == "parakeet" ? load_parakeet(path) : load_whisper(path);
        std::cout << (loaded ? "loaded" : "refused") << std::endl;
    }
}
