#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace transcribe {

// Calls `work(from, to)` for parts of [0, count), one for each thread. Rethrows the first exception.
template <typename Work> void in_parallel(size_t threads, size_t count, const Work & work) {
    const size_t parts = std::max<size_t>(1, std::min(threads, count));
    std::exception_ptr failure;
    std::mutex mutex;
    const auto part = [&](size_t number) {
        try {
            work(count * number / parts, count * (number + 1) / parts);
        } catch (...) {
            const std::lock_guard<std::mutex> lock(mutex);
            failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    others.reserve(parts - 1);
    for (size_t number = 1; number < parts; number++) {
        try {
            others.emplace_back(part, number);
        } catch (const std::exception &) {
            // No thread is available: this one does the work.
            part(number);
        }
    }
    part(0);
    for (auto & other : others) {
        other.join();
    }
    if (failure != nullptr) {
        std::rethrow_exception(failure);
    }
}

}  // namespace transcribe
