#pragma once

#include "encoder/encoded-windows.h"
#include "encoder/encoder.h"
#include "job-state.h"
#include "joint.h"

#include <napi.h>
#include <whisper.h>

#include <memory>
#include <vector>

namespace transcribe {

// The part of a State that a running job shares.
struct StateCore : JobCore {
    StateCore(std::shared_ptr<whisper_context> context, std::shared_ptr<EncodedWindows> windows,
              std::unique_ptr<EncoderUse> encoder);
    ~StateCore() override;

    const std::shared_ptr<whisper_context> context;
    whisper_state * const state;

    // Returns the encoder's output of the last window.
    std::vector<float> output() const;
    // Stores the window whose language was detected: it is transcribed later.
    void keep_window();
    void end() override;
    // Evaluates graphs together with the other states of the model.
    void join(const std::shared_ptr<Joints> & joints);
    // No other state need wait for steps of this one any more.
    void leave_steps();

private:
    static whisper_encoder_result encode(const float * spectrum, int frames, float * output, void * core);

    const std::shared_ptr<EncodedWindows> windows_;
    // Null if whisper.cpp's own encoder is used.
    const std::unique_ptr<EncoderUse> encoder_;
    // Null if the state evaluates its own graphs.
    std::unique_ptr<Joint<whisper_window>::Lane> window_lane_;
    std::unique_ptr<Joint<whisper_step>::Lane> step_lane_;
    std::unique_ptr<Joint<whisper_pass>::Lane> pass_lane_;
    // Used by the job's thread only.
    bool encoder_failed_ = false;
    std::vector<float> spectrum_;
};

// The working memory of one transcription at a time over a shared model.
class State : public JobState<State, StateCore> {
public:
    static Napi::Function define(Napi::Env env);

    // new State(model, encoder or undefined)
    explicit State(const Napi::CallbackInfo & info);

private:
    Napi::Value encode(const Napi::CallbackInfo & info);
    Napi::Value detect_language(const Napi::CallbackInfo & info);
    Napi::Value transcribe(const Napi::CallbackInfo & info);
};

}  // namespace transcribe
