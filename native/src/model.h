#pragma once

#include "encoded-windows.h"

#include <napi.h>
#include <whisper.h>

#include <memory>

namespace transcribe {

// A loaded model. The weights are shared by its states and freed with the last of them.
class Model : public Napi::ObjectWrap<Model> {
public:
    static Napi::Function define(Napi::Env env);

    // new Model(path, { useGpu, flashAttention, alignmentHeads, alignmentLayers })
    explicit Model(const Napi::CallbackInfo & info);

    // The weights, or a thrown error once the model was disposed.
    std::shared_ptr<whisper_context> context(Napi::Env env) const;

    // What its states have encoded for each other, by its own encoder.
    std::shared_ptr<EncodedWindows> windows() const { return windows_; }

private:
    Napi::Value languages(const Napi::CallbackInfo & info);
    Napi::Value multilingual(const Napi::CallbackInfo & info);
    Napi::Value dispose(const Napi::CallbackInfo & info);

    std::shared_ptr<whisper_context> context_;
    const std::shared_ptr<EncodedWindows> windows_ = std::make_shared<EncodedWindows>();
};

// How many of whisper.cpp's languages the model has tokens for; they are the first so many.
int language_count(whisper_context * context);

}  // namespace transcribe
