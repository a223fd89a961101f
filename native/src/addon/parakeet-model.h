#pragma once

#include "parakeet/conformer.h"
#include "shared-model.h"

#include <napi.h>
#include <parakeet.h>

#include <memory>

namespace transcribe {

// A loaded Parakeet model.
class ParakeetModel : public SharedModel<ParakeetModel, parakeet_context> {
public:
    static Napi::Function define(Napi::Env env);

    // new ParakeetModel(path, { useGpu })
    explicit ParakeetModel(const Napi::CallbackInfo & info);

    // Our own encoder; null if parakeet.cpp's is used.
    std::shared_ptr<const Conformer> encoder() const { return encoder_; }

private:
    Napi::Value dispose(const Napi::CallbackInfo & info);

    std::shared_ptr<const Conformer> encoder_;
};

}  // namespace transcribe
