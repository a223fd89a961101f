#include "parakeet-state.h"

#include "log.h"
#include "parakeet-model.h"
#include "samples.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace transcribe {

namespace {

// Fewer samples are no speech. The spectrum of fewer than two frames has no standard deviation, and without any samples
// parakeet.cpp would use the spectrum of the call before.
constexpr size_t least_samples = PARAKEET_SAMPLE_RATE / 10;

struct Token {
    int id;
    int frame;    // of 80 ms, in which it was recognized
    int duration; // in frames; 0 if the next token is in the same one
    float probability;
};

struct Recognized {
    bool aborted = false;
    std::vector<Token> tokens;
};

bool should_abort(void * core) {
    return static_cast<ParakeetCore *>(core)->should_end();
}

// Throws if the samples do not fit into one window. parakeet.cpp would drop those after it.
void require_window(const ParakeetCore & core, size_t count) {
    const size_t most = static_cast<size_t>(parakeet_n_audio_ctx(core.context.get())) * PARAKEET_HOP_LENGTH;
    if (count < least_samples || count > most) {
        throw std::runtime_error("a window has " + std::to_string(least_samples) + " to " + std::to_string(most) +
                                 " samples, not " + std::to_string(count));
    }
}

std::vector<Token> read_tokens(parakeet_state * state) {
    std::vector<Token> tokens;
    for (int i = 0; i < parakeet_full_n_segments_from_state(state); ++i) {
        for (int j = 0; j < parakeet_full_n_tokens_from_state(state, i); ++j) {
            const parakeet_token_data data = parakeet_full_get_token_data_from_state(state, i, j);
            tokens.push_back({data.id, data.frame_index, data.duration_value, data.p});
        }
    }
    return tokens;
}

Recognized run_parakeet(ParakeetCore & core, const std::vector<float> & samples, int threads) {
    require_window(core, samples.size());
    parakeet_full_params params = parakeet_full_default_params(PARAKEET_SAMPLING_GREEDY);
    params.n_threads = threads;
    params.abort_callback = should_abort;
    params.abort_callback_user_data = &core;

    take_logged_errors();
    const int status =
        parakeet_full_with_state(core.context.get(), core.state, params, samples.data(), static_cast<int>(samples.size()));
    Recognized result;
    // The return code does not distinguish an abort from a failure.
    result.aborted = should_abort(&core);
    if (result.aborted) {
        return result;
    }
    if (status != 0) {
        throw_logged("parakeet could not transcribe the samples, code " + std::to_string(status));
    }
    result.tokens = read_tokens(core.state);
    return result;
}

std::vector<float> read_output(ParakeetCore & core) {
    const int frames = parakeet_n_encoder_frames_from_state(core.state);
    std::vector<float> output(static_cast<size_t>(frames) * parakeet_model_n_audio_state(core.context.get()));
    parakeet_get_encoder_output(core.state, output.data());
    return output;
}

Napi::Value to_javascript(Napi::Env env, const Recognized & recognized) {
    Napi::Array tokens = Napi::Array::New(env, recognized.tokens.size());
    for (uint32_t i = 0; i < recognized.tokens.size(); ++i) {
        const Token & token = recognized.tokens[i];
        Napi::Object entry = Napi::Object::New(env);
        entry.Set("id", token.id);
        entry.Set("frame", token.frame);
        entry.Set("duration", token.duration);
        entry.Set("probability", token.probability);
        tokens.Set(i, entry);
    }
    Napi::Object result = Napi::Object::New(env);
    result.Set("aborted", recognized.aborted);
    result.Set("tokens", tokens);
    return result;
}

}  // namespace

ParakeetCore::ParakeetCore(std::shared_ptr<parakeet_context> shared, std::shared_ptr<const Conformer> encoder)
    : context(std::move(shared)), state(parakeet_init_state(context.get())), encoder_(std::move(encoder)) {
    if (state == nullptr) {
        throw_logged("parakeet could not set up its working memory");
    }
    if (encoder_ != nullptr) {
        parakeet_set_encoder_callback(state, encode, this);
    }
}

ParakeetCore::~ParakeetCore() {
    parakeet_free_state(state);
}

parakeet_encoder_result ParakeetCore::encode(const float * spectrum, int frames, int threads, float * output,
                                             void * user_data) {
    const auto & core = *static_cast<ParakeetCore *>(user_data);
    try {
        const bool done = core.encoder_->encode(spectrum, static_cast<size_t>(frames), static_cast<size_t>(threads),
                                                [&core] { return core.should_end(); }, output);
        return done ? PARAKEET_ENCODER_ENCODED : PARAKEET_ENCODER_FAILED;
    } catch (const std::exception &) {
        // Memory is short, and parakeet.cpp's own encoder needs more.
        return PARAKEET_ENCODER_FAILED;
    }
}

Napi::Function ParakeetState::define(Napi::Env env) {
    return DefineClass(env, "ParakeetState", {
        InstanceMethod<&ParakeetState::encode>("encode"),
        InstanceMethod<&ParakeetState::transcribe>("transcribe"),
        InstanceMethod("abort", &ParakeetState::abort),
        InstanceMethod("dispose", &ParakeetState::dispose),
    });
}

ParakeetState::ParakeetState(const Napi::CallbackInfo & info) : JobState(info) {
    const ParakeetModel * model = Napi::ObjectWrap<ParakeetModel>::Unwrap(info[0].As<Napi::Object>());
    take_logged_errors();
    create(info.Env(), [&] { return std::make_shared<ParakeetCore>(model->context(info.Env()), model->encoder()); });
}

Napi::Value ParakeetState::encode(const Napi::CallbackInfo & info) {
    const int threads = info[1].As<Napi::Number>().Int32Value();
    const auto work = [threads, samples = copy_samples(info[0])](ParakeetCore & core) {
        if (run_parakeet(core, samples, threads).aborted) {
            throw std::runtime_error("the encoding was aborted");
        }
        return read_output(core);
    };
    return start(info.Env(), "parakeet-encode", work, to_float32_array);
}

Napi::Value ParakeetState::transcribe(const Napi::CallbackInfo & info) {
    const int threads = info[1].As<Napi::Number>().Int32Value();
    const auto work = [threads, samples = copy_samples(info[0])](ParakeetCore & core) {
        return run_parakeet(core, samples, threads);
    };
    return start(info.Env(), "parakeet-transcribe", work, to_javascript);
}

}  // namespace transcribe
