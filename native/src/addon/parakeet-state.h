#pragma once

#include "job-state.h"
#include "parakeet/conformer.h"

#include <napi.h>
#include <parakeet.h>

#include <memory>

namespace transcribe {

// The part of a ParakeetState that a running job shares.
struct ParakeetCore : JobCore {
    // The encoder is null if parakeet.cpp's own one is used.
    ParakeetCore(std::shared_ptr<parakeet_context> context, std::shared_ptr<const Conformer> encoder);
    ~ParakeetCore() override;

    const std::shared_ptr<parakeet_context> context;
    parakeet_state * const state;

private:
    static parakeet_encoder_result encode(const float * spectrum, int frames, int threads, float * output, void * core);

    const std::shared_ptr<const Conformer> encoder_;
};

// The working memory of one recognition at a time over a shared Parakeet model.
class ParakeetState : public JobState<ParakeetState, ParakeetCore> {
public:
    static Napi::Function define(Napi::Env env);

    // new ParakeetState(model)
    explicit ParakeetState(const Napi::CallbackInfo & info);

private:
    Napi::Value encode(const Napi::CallbackInfo & info);
    Napi::Value transcribe(const Napi::CallbackInfo & info);
};

}  // namespace transcribe
