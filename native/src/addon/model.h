#pragma once

#include "encoder/encoded-windows.h"
#include "joint.h"
#include "shared-model.h"

#include <napi.h>
#include <whisper.h>

#include <memory>

namespace transcribe {

// A loaded Whisper model.
class Model : public SharedModel<Model, whisper_context> {
public:
    static Napi::Function define(Napi::Env env);

    // new Model(path, { useGpu, flashAttention, alignmentHeads, alignmentLayers, slots })
    explicit Model(const Napi::CallbackInfo & info);

    // Windows that its states encoded for each other with the model's own encoder.
    std::shared_ptr<EncodedWindows> windows() const { return windows_; }

    // Null if each state evaluates its own graphs.
    std::shared_ptr<Joints> joints() const { return joints_; }

private:
    Napi::Value languages(const Napi::CallbackInfo & info);
    Napi::Value multilingual(const Napi::CallbackInfo & info);
    Napi::Value work(const Napi::CallbackInfo & info);
    Napi::Value dispose(const Napi::CallbackInfo & info);

    std::shared_ptr<Joints> joints_;
    const std::shared_ptr<EncodedWindows> windows_ = std::make_shared<EncodedWindows>();
};

// Returns how many of whisper.cpp's languages the model knows: the first ones of its list.
int language_count(whisper_context * context);

}  // namespace transcribe
