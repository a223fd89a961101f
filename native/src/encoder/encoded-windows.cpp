#include "encoded-windows.h"

#include <algorithm>
#include <utility>

namespace transcribe {

namespace {

// Memory for 16 windows of base or 7 of large. Language detection uses 5 to 25 windows of a recording.
constexpr size_t most_bytes = 64 << 20;

}  // namespace

void EncodedWindows::keep(std::vector<float> spectrum, std::vector<float> output) {
    const std::lock_guard<std::mutex> lock(mutex_);
    windows_.push_back({std::move(spectrum), std::move(output)});
    bytes_ += windows_.back().bytes();
    while (bytes_ > most_bytes) {
        bytes_ -= windows_.front().bytes();
        windows_.pop_front();
    }
}

bool EncodedWindows::take(const float * spectrum, size_t count, float * output) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(windows_.begin(), windows_.end(), [&](const Window & window) {
        return window.spectrum.size() == count && std::equal(spectrum, spectrum + count, window.spectrum.begin());
    });
    if (found == windows_.end()) {
        return false;
    }
    std::copy(found->output.begin(), found->output.end(), output);
    bytes_ -= found->bytes();
    windows_.erase(found);
    return true;
}

}  // namespace transcribe
