#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace transcribe {

// Threads that pass through the steps of one computation together. They share the work of a step and wait for its end.
class Team {
public:
    // Asks `should_stop` after each step, on any thread.
    explicit Team(std::function<bool()> should_stop) : should_stop_(std::move(should_stop)) {}

    // Calls `work(member)` on `threads` threads, or on fewer if there are no more; this one is member 0. `work` must not
    // throw and must pass through the same steps on all threads.
    template <typename Work> void run(size_t threads, const Work & work) {
        std::vector<std::thread> others;
        others.reserve(threads - 1);
        for (size_t member = 1; member < threads; member++) {
            try {
                others.emplace_back([this, member, &work] {
                    while (size_.load(std::memory_order_acquire) == 0) {
                        std::this_thread::yield();
                    }
                    work(member);
                });
            } catch (const std::exception &) {
                break;
            }
        }
        size_.store(others.size() + 1, std::memory_order_release);
        work(0);
        for (auto & other : others) {
            other.join();
        }
        size_.store(0);
    }

    // A step: calls `work(index)` for all of [0, count), each on any one member. Returns after the last call ended, false if
    // the computation should stop.
    template <typename Work> bool each(size_t count, const Work & work) {
        for (size_t index = next_.fetch_add(1, std::memory_order_relaxed); index < count;
             index = next_.fetch_add(1, std::memory_order_relaxed)) {
            work(index);
        }
        return meet();
    }

private:
    // Members of a step end at about the same time, unless the machine has other work.
    static constexpr int spins = 200;

    bool meet() {
        const size_t step = step_.load(std::memory_order_acquire);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_.load(std::memory_order_relaxed)) {
            arrived_.store(0, std::memory_order_relaxed);
            next_.store(0, std::memory_order_relaxed);
            stopped_.store(stopped_.load(std::memory_order_relaxed) || should_stop_(), std::memory_order_relaxed);
            step_.store(step + 1, std::memory_order_release);
        }
        for (int spin = 0; step_.load(std::memory_order_acquire) == step; spin++) {
            if (spin >= spins) {
                std::this_thread::yield();
            }
        }
        return !stopped_.load(std::memory_order_relaxed);
    }

    const std::function<bool()> should_stop_;
    std::atomic<size_t> size_{0};
    std::atomic<size_t> next_{0};
    std::atomic<size_t> arrived_{0};
    std::atomic<size_t> step_{0};
    std::atomic<bool> stopped_{false};
};

}  // namespace transcribe
