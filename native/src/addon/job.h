#pragma once

#include <napi.h>

#include <functional>

namespace transcribe {

// The steps of a job. They capture what they need by value or share it.
struct JobSteps {
    // Runs on the job's own thread. A thrown std::exception rejects the promise with its message.
    std::function<void()> work;
    // Runs on the JavaScript thread after the work completed or failed.
    std::function<void()> settled;
    // Runs on the JavaScript thread after the work completed. Its result resolves the promise.
    std::function<Napi::Value(Napi::Env)> result;
};

// Runs a job on a thread of its own, so that a long job does not block a shared pool.
Napi::Promise start_job(Napi::Env env, const char * name, JobSteps steps);

// Returns whether the program is exiting. Running work should abort then.
bool is_shutting_down();

// Registers a hook for the exit of the program that aborts the jobs and waits for them: their threads must not outlive the
// data that they use.
void end_jobs_with(Napi::Env env);

}  // namespace transcribe
