#include "state.h"

#include "log.h"
#include "model.h"
#include "options.h"
#include "samples.h"
#include "transcript.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace transcribe {

namespace {

bool should_abort(void * core) {
    return static_cast<StateCore *>(core)->should_end();
}

// Returns the tokens of the text with which a transcript begins: of a long text, the last ones.
std::vector<whisper_token> tokens_of_prefix(whisper_context * context, const std::string & text) {
    // A token has at least one byte.
    std::vector<whisper_token> tokens(text.size() + 1);
    const int count = whisper_tokenize(context, text.c_str(), tokens.data(), static_cast<int>(tokens.size()));
    tokens.resize(std::max(0, count));
    const size_t most = whisper_n_text_ctx(context) / 4;
    if (tokens.size() > most) {
        tokens.erase(tokens.begin(), tokens.end() - static_cast<std::ptrdiff_t>(most));
    }
    return tokens;
}

Transcript run_whisper(StateCore & core, const std::vector<float> & samples, const Options & options) {
    Transcript transcript;
    whisper_full_params params = to_whisper_params(options);
    const std::vector<whisper_token> prefix = tokens_of_prefix(core.context.get(), options.prefix);
    params.prefix_tokens = prefix.data();
    params.prefix_n_tokens = static_cast<int>(prefix.size());
    params.abort_callback = should_abort;
    params.abort_callback_user_data = &core;

    take_logged_errors();
    const int status =
        whisper_full_with_state(core.context.get(), core.state, params, samples.data(), static_cast<int>(samples.size()));
    core.leave_steps();
    transcript.language = options.language;
    // The return code does not distinguish an abort from a failure.
    transcript.aborted = should_abort(&core);
    if (transcript.aborted) {
        return transcript;
    }
    if (status != 0) {
        throw_logged("whisper could not transcribe the samples, code " + std::to_string(status));
    }
    transcript.segments = read_segments(core.context.get(), core.state, prefix.size());
    return transcript;
}

void compute_spectrum(StateCore & core, const std::vector<float> & samples, int threads) {
    if (whisper_pcm_to_mel_with_state(core.context.get(), core.state, samples.data(), static_cast<int>(samples.size()), threads) != 0) {
        throw_logged("whisper could not compute the spectrum of the samples");
    }
}

std::vector<float> run_encoding(StateCore & core, const std::vector<float> & samples, int threads) {
    take_logged_errors();
    compute_spectrum(core, samples, threads);
    if (whisper_encode_with_state(core.context.get(), core.state, 0, threads) != 0) {
        throw_logged("whisper could not encode the samples");
    }
    return core.output();
}

std::vector<float> run_detection(StateCore & core, const std::vector<float> & samples, int threads) {
    take_logged_errors();
    whisper_context * context = core.context.get();
    compute_spectrum(core, samples, threads);
    std::vector<float> probabilities(whisper_lang_max_id() + 1, 0.0f);
    const int language = whisper_lang_auto_detect_with_state(context, core.state, 0, threads, probabilities.data());
    core.leave_steps();
    if (language < 0) {
        throw_logged("whisper could not detect the language");
    }
    core.keep_window();
    // whisper.cpp also rates languages for which an older model has no token.
    probabilities.resize(language_count(context));
    return probabilities;
}

}  // namespace

StateCore::StateCore(std::shared_ptr<whisper_context> shared, std::shared_ptr<EncodedWindows> windows,
                     std::unique_ptr<EncoderUse> encoder)
    : context(std::move(shared)), state(whisper_init_state(context.get())), windows_(std::move(windows)),
      encoder_(std::move(encoder)) {
    if (state == nullptr) {
        throw_logged("whisper could not set up its working memory");
    }
    whisper_set_encoder_callback(state, encode, this);
}

whisper_encoder_result StateCore::encode(const float * spectrum, int frames, float * output, void * user_data) {
    auto & core = *static_cast<StateCore *>(user_data);
    core.leave_steps();
    core.spectrum_.assign(spectrum, spectrum + static_cast<size_t>(frames) * whisper_model_n_mels(core.context.get()));
    if (core.windows_->take(core.spectrum_.data(), core.spectrum_.size(), output)) {
        return WHISPER_ENCODER_ENCODED;
    }
    if (core.encoder_ == nullptr || core.encoder_failed_) {
        return WHISPER_ENCODER_DECLINED;
    }
    try {
        const bool done = core.encoder_->encode(spectrum, frames, output, [&core] { return core.should_end(); });
        return done ? WHISPER_ENCODER_ENCODED : WHISPER_ENCODER_FAILED;
    } catch (const std::exception &) {
        // Memory may be short, but whisper.cpp's own encoder may still work.
        core.encoder_failed_ = true;
        return WHISPER_ENCODER_DECLINED;
    }
}

std::vector<float> StateCore::output() const {
    std::vector<float> output(static_cast<size_t>(whisper_model_n_audio_ctx(context.get())) *
                              whisper_model_n_audio_state(context.get()));
    whisper_get_encoder_output(state, output.data());
    return output;
}

void StateCore::keep_window() {
    // An empty spectrum means that the state itself still has this window's output.
    if (!spectrum_.empty() && !encoder_failed_) {
        windows_->keep(std::move(spectrum_), output());
    }
    spectrum_.clear();
}

void StateCore::end() {
    JobCore::end();
    if (encoder_ != nullptr) {
        encoder_->end();
    }
}

void StateCore::join(const std::shared_ptr<Joints> & joints) {
    // Returns a lane that keeps all joints.
    const auto lane_of = [&](auto & joint) {
        using Items = std::remove_reference_t<decltype(joint)>;
        return std::make_unique<typename Items::Lane>(std::shared_ptr<Items>(joints, &joint), [this] { return should_end(); });
    };
    window_lane_ = lane_of(joints->windows);
    step_lane_ = lane_of(joints->steps);
    pass_lane_ = lane_of(joints->passes);
    const auto window = [](const whisper_window * item, void * core) {
        return static_cast<StateCore *>(core)->window_lane_->evaluate(item);
    };
    const auto step = [](const whisper_step * item, void * core) {
        return static_cast<StateCore *>(core)->step_lane_->evaluate(item);
    };
    const auto pass = [](const whisper_pass * item, void * user_data) {
        auto & core = *static_cast<StateCore *>(user_data);
        core.leave_steps();
        return core.pass_lane_->evaluate(item);
    };
    whisper_set_slot_callbacks(state, {window, step, pass, this});
}

void StateCore::leave_steps() {
    if (step_lane_ != nullptr) {
        step_lane_->leave();
    }
}

StateCore::~StateCore() {
    whisper_free_state(state);
}

Napi::Function State::define(Napi::Env env) {
    return DefineClass(env, "State", {
        InstanceMethod<&State::encode>("encode"),
        InstanceMethod<&State::detect_language>("detectLanguage"),
        InstanceMethod<&State::transcribe>("transcribe"),
        InstanceMethod("abort", &State::abort),
        InstanceMethod("dispose", &State::dispose),
    });
}

State::State(const Napi::CallbackInfo & info) : JobState(info) {
    const Model * model = Napi::ObjectWrap<Model>::Unwrap(info[0].As<Napi::Object>());
    take_logged_errors();
    create(info.Env(), [&] {
        std::unique_ptr<EncoderUse> encoder;
        auto windows = model->windows();
        if (info[1].IsObject()) {
            const auto shared = Napi::ObjectWrap<Encoder>::Unwrap(info[1].As<Napi::Object>())->core(info.Env());
            windows = shared->windows;
            encoder = std::make_unique<EncoderUse>(shared);
        }
        auto core = std::make_shared<StateCore>(model->context(info.Env()), std::move(windows), std::move(encoder));
        if (model->joints() != nullptr) {
            core->join(model->joints());
        }
        return core;
    });
}

Napi::Value State::encode(const Napi::CallbackInfo & info) {
    const int threads = info[1].As<Napi::Number>().Int32Value();
    const auto work = [threads, samples = copy_samples(info[0])](StateCore & core) {
        return run_encoding(core, samples, threads);
    };
    return start(info.Env(), "whisper-encode", work, to_float32_array);
}

Napi::Value State::detect_language(const Napi::CallbackInfo & info) {
    const int threads = info[1].As<Napi::Number>().Int32Value();
    const auto work = [threads, samples = copy_samples(info[0])](StateCore & core) {
        return run_detection(core, samples, threads);
    };
    return start(info.Env(), "whisper-detect-language", work, [](Napi::Env env, const std::vector<float> & probabilities) {
        Napi::Object by_language = Napi::Object::New(env);
        for (size_t id = 0; id < probabilities.size(); ++id) {
            by_language.Set(whisper_lang_str(static_cast<int>(id)), probabilities[id]);
        }
        return by_language;
    });
}

Napi::Value State::transcribe(const Napi::CallbackInfo & info) {
    const Options options = read_options(info[1].As<Napi::Object>());
    const auto work = [options, samples = copy_samples(info[0])](StateCore & core) {
        return run_whisper(core, samples, options);
    };
    return start(info.Env(), "whisper-transcribe", work, to_javascript);
}

}  // namespace transcribe
