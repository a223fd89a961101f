#pragma once

#include "log.h"

#include <napi.h>

#include <memory>

namespace transcribe {

// A loaded model of a family. `Self` is its class, `Context` its library's weights. Its states share the weights; the last
// state frees them.
template <typename Self, typename Context> class SharedModel : public Napi::ObjectWrap<Self> {
public:
    // Returns the weights. Throws if the model was disposed.
    std::shared_ptr<Context> context(Napi::Env env) const {
        if (context_ == nullptr) {
            throw Napi::Error::New(env, "the model was disposed; open it again");
        }
        return context_;
    }

protected:
    explicit SharedModel(const Napi::CallbackInfo & info) : Napi::ObjectWrap<Self>(info) {}

    // Calls `load`, which returns the weights, and keeps them. Throws with the library's errors if it returns null.
    template <typename Load> void load(Napi::Env env, const Load & load, void (*free)(Context *)) {
        take_logged_errors();
        Context * context = load();
        if (context == nullptr) {
            throw Napi::Error::New(env, take_logged_errors());
        }
        context_ = std::shared_ptr<Context>(context, free);
    }

    Napi::Value dispose(const Napi::CallbackInfo & info) {
        context_.reset();
        return info.Env().Undefined();
    }

private:
    std::shared_ptr<Context> context_;
};

}  // namespace transcribe
