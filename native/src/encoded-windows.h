#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <vector>

namespace transcribe {

// What windows were encoded into that are likely to be asked for once more: those whose language was asked for, which are
// read some time later, by any state of the model.
class EncodedWindows {
public:
    // Keeps a window; the oldest ones go where there are too many.
    void keep(std::vector<float> spectrum, std::vector<float> output);

    // Writes the output of a window of that spectrum and forgets it; false where there is none.
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
