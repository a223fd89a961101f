#pragma once

#include "job.h"

#include <napi.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace transcribe {

// The part of a state that a running job shares, so that the state can be disposed meanwhile.
struct JobCore {
    JobCore() = default;
    virtual ~JobCore() = default;
    JobCore(const JobCore &) = delete;
    JobCore & operator=(const JobCore &) = delete;

    std::atomic<bool> abort{false};
    bool busy = false; // used by the JavaScript thread only

    // Aborts the running call.
    virtual void end() { abort.store(true); }

    // Returns whether the running call should end.
    bool should_end() const { return abort.load(std::memory_order_relaxed) || is_shutting_down(); }
};

// The working memory of one job at a time over a shared model. `Self` is the class of a family, `Core` derives from JobCore.
template <typename Self, typename Core> class JobState : public Napi::ObjectWrap<Self> {
protected:
    explicit JobState(const Napi::CallbackInfo & info) : Napi::ObjectWrap<Self>(info) {}

    // Sets the core that `make` returns. Throws its errors to JavaScript.
    template <typename Make> void create(Napi::Env env, const Make & make) {
        try {
            core_ = make();
        } catch (const Napi::Error &) {
            throw;
        } catch (const std::exception & error) {
            throw Napi::Error::New(env, error.what());
        }
    }

    // Calls `work(core)` on a thread of its own. Returns a promise of `convert(env, result)`. Throws if the state is busy or
    // disposed.
    template <typename Work, typename Convert>
    Napi::Value start(Napi::Env env, const char * name, Work work, const Convert & convert) {
        const auto core = begin(env);
        const auto result = std::make_shared<std::invoke_result_t<Work, Core &>>();
        JobSteps steps;
        steps.work = [core, result, work = std::move(work)] { *result = work(*core); };
        steps.settled = [core] { core->busy = false; };
        steps.result = [result, convert](Napi::Env env) -> Napi::Value { return convert(env, *result); };
        return start_job(env, name, std::move(steps));
    }

    Napi::Value abort(const Napi::CallbackInfo & info) {
        if (core_ != nullptr) {
            core_->end();
        }
        return info.Env().Undefined();
    }

    Napi::Value dispose(const Napi::CallbackInfo & info) {
        if (core_ != nullptr) {
            core_->end();
            core_.reset();
        }
        return info.Env().Undefined();
    }

private:
    // Returns the core, marked busy.
    std::shared_ptr<Core> begin(Napi::Env env) {
        if (core_ == nullptr) {
            throw Napi::Error::New(env, "the state was disposed; create another one");
        }
        if (core_->busy) {
            throw Napi::Error::New(env, "the state is busy; wait for its call to end or create another state");
        }
        core_->busy = true;
        core_->abort.store(false);
        return core_;
    }

    std::shared_ptr<Core> core_;
};

// Copies numbers into a Float32Array.
inline Napi::Value to_float32_array(Napi::Env env, const std::vector<float> & numbers) {
    Napi::Float32Array array = Napi::Float32Array::New(env, numbers.size());
    std::copy(numbers.begin(), numbers.end(), array.Data());
    return array;
}

}  // namespace transcribe
