#pragma once

#include "encoded-windows.h"

#include <napi.h>
#include <whisper.h>

#include <memory>

namespace transcribe {

// A loaded model. Its states share the weights; the last state frees them.
class Model : public Napi::ObjectWrap<Model> {
public:
    static Napi::Function define(Napi::Env env);

    // new Model(path, { useGpu, flashAttention, alignmentHeads, alignmentLayers })
    explicit Model(const Napi::CallbackInfo & info);

    // Returns the weights. Throws if the model was disposed.
    std::shared_ptr<whisper_context> context(Napi::Env env) const;

    // Windows that its states encoded for each other with the model's own encoder.
    std::shared_ptr<EncodedWindows> windows() const { return windows_; }

private:
    Napi::Value languages(const Napi::CallbackInfo & info);
    Napi::Value multilingual(const Napi::CallbackInfo & info);
    Napi::Value dispose(const Napi::CallbackInfo & info);

    std::shared_ptr<whisper_context> context_;
    const std::shared_ptr<EncodedWindows> windows_ = std::make_shared<EncodedWindows>();
};

// Returns how many of whisper.cpp's languages the model knows: the first ones of its list.
int language_count(whisper_context * context);

}  // namespace transcribe
