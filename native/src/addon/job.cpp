#include "job.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

namespace transcribe {

namespace {

std::atomic<bool> shutting_down{false};
std::mutex running_mutex;
std::condition_variable running_changed;
int running_count = 0;

void count_running(int change) {
    const std::lock_guard<std::mutex> lock(running_mutex);
    running_count += change;
    running_changed.notify_all();
}

struct Job {
    Job(Napi::Env env, JobSteps steps) : steps(std::move(steps)), deferred(Napi::Promise::Deferred::New(env)) {}

    JobSteps steps;
    Napi::Promise::Deferred deferred;
    Napi::ThreadSafeFunction call_back;
    std::thread thread;
    bool failed = false;
    std::string error;
};

void settle(Napi::Env env, Job & job) {
    const Napi::HandleScope scope(env);
    job.steps.settled();
    if (job.failed) {
        job.deferred.Reject(Napi::Error::New(env, job.error).Value());
        return;
    }
    try {
        job.deferred.Resolve(job.steps.result(env));
    } catch (const Napi::Error & error) {
        job.deferred.Reject(error.Value());
    }
}

void run(Job & job) {
    try {
        job.steps.work();
    } catch (const std::exception & error) {
        job.failed = true;
        job.error = error.what();
    } catch (...) {
        job.failed = true;
        job.error = "the native code failed without a reason";
    }
    count_running(-1);
    job.call_back.BlockingCall([&job](Napi::Env env, Napi::Function) { settle(env, job); });
    job.call_back.Release();
}

}  // namespace

Napi::Promise start_job(Napi::Env env, const char * name, JobSteps steps) {
    // The thread-safe function owns the job; its finalizer deletes it.
    auto * job = new Job(env, std::move(steps));
    const Napi::Promise promise = job->deferred.Promise();
    const Napi::Function nothing = Napi::Function::New(env, [](const Napi::CallbackInfo &) {});
    job->call_back = Napi::ThreadSafeFunction::New(env, nothing, name, 0, 1, [job](Napi::Env) {
        if (job->thread.joinable()) {
            job->thread.join();
        }
        delete job;
    });
    count_running(+1);
    try {
        job->thread = std::thread(run, std::ref(*job));
    } catch (const std::system_error & error) {
        count_running(-1);
        job->failed = true;
        job->error = std::string("no thread could be started: ") + error.what();
        settle(env, *job);
        job->call_back.Release();
    }
    return promise;
}

bool is_shutting_down() {
    return shutting_down.load(std::memory_order_relaxed);
}

void end_jobs_with(Napi::Env env) {
    env.AddCleanupHook([]() {
        shutting_down.store(true);
        std::unique_lock<std::mutex> lock(running_mutex);
        running_changed.wait(lock, [] { return running_count == 0; });
    });
}

}  // namespace transcribe
