#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace transcribe {

struct Free {
    void operator()(void * memory) const { std::free(memory); }
};

// Memory for numbers that wide instructions read, at an address that is a multiple of 64.
template <typename Element> using Buffer = std::unique_ptr<Element[], Free>;

// Returns uninitialized memory. Throws if there is none.
template <typename Element> Buffer<Element> buffer(size_t count) {
    const size_t bytes = (count * sizeof(Element) + 63) / 64 * 64;
    void * memory = std::aligned_alloc(64, bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return Buffer<Element>(static_cast<Element *>(memory));
}

}  // namespace transcribe
