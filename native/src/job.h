#pragma once

#include <napi.h>

#include <functional>

namespace transcribe {

// What a job does, step by step. Everything it needs is captured by value or shared.
struct JobSteps {
    // Runs on the job's own thread; a thrown std::exception rejects the promise with its message.
    // The argument reports progress in percent; it never blocks.
    std::function<void(const std::function<void(int)> & report)> work;
    // Runs on the JavaScript thread once the work ended, however it ended.
    std::function<void()> settled;
    // Runs on the JavaScript thread after work that succeeded; what it returns resolves the promise.
    std::function<Napi::Value(Napi::Env)> result;
    // Called with the percentage; may be empty.
    Napi::Function on_progress;
};

// Runs a job on a thread of its own, so that a long one takes no place in a shared pool.
Napi::Promise start_job(Napi::Env env, const char * name, JobSteps steps);

// True once the program is ending: work that runs should give up.
bool is_shutting_down();

// At the end of the program: tells the jobs to give up and waits for them, since their threads must
// not outlive the data they use.
void end_jobs_with(Napi::Env env);

}  // namespace transcribe
