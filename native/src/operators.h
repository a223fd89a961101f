#pragma once

#include "onnx-runtime.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace transcribe {

// ONNX operators of our own, in the domain "transcribe", over all positions of a window: `Normalise` (input, weight, bias) is
// layer normalisation; of the others each begins with a product, whose weights are a matrix and a bias: `Attend` (input,
// weights) goes on with attention, `Activate` (input, weights) with GELU, `Add` (before, input, weights) adds it to what was
// before. What is multiplied is in bfloat16, under the name of uint16; rows.h tells how matrices are laid out.
class Operators {
public:
    // Whether this processor has the instructions that they are made of.
    static bool are_supported();

    Operators(const OnnxRuntime & runtime, size_t threads);
    ~Operators();
    Operators(const Operators &) = delete;
    Operators & operator=(const Operators &) = delete;

    // Makes a session that is set up with these options know them; they must live longer than it.
    void add_to(void * session_options);

    // Whether one has failed in a run of this thread's since this was asked last: they can't tell the session.
    static bool have_failed();

private:
    struct Operator;
    struct Call;

    void define();
    static void compute(void * kernel, void * context);

    const OnnxRuntime & runtime_;
    const size_t threads_;
    void * domain_ = nullptr;
    std::vector<std::unique_ptr<Operator>> operators_;
};

}  // namespace transcribe
