#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <vector>

namespace transcribe {

// Encoder outputs of windows whose language was detected. Any state of the model may transcribe such a window later and then
// need not encode it again.
class EncodedWindows {
public:
    // Stores a window; drops the oldest ones beyond the limit.
    void keep(std::vector<float> spectrum, std::vector<float> output);

    // Copies and drops the output of the window with this spectrum. Returns false if there is none.
    bool take(const float * spectrum, size_t count, float * output);

private:
    struct Window {
        std::vector<float> spectrum;
        std::vector<float> output;

        size_t bytes() const { return (spectrum.size() + output.size()) * sizeof(float); }
    };

    std::mutex mutex_;
    std::list<Window> windows_;
    size_t bytes_ = 0;
};

}  // namespace transcribe
