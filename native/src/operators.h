#pragma once

#include "onnx-runtime.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace transcribe {

// Our own ONNX operators, in the domain "transcribe", over all positions of a window. `Normalise` (input, weight, bias) is
// layer normalization. The others start with a matrix product plus bias: `Attend` (input, weights) continues with
// attention, `Activate` (input, weights) with GELU, and `Add` (before, input, weights) adds the product to `before`.
// Factors are bfloat16, declared as uint16; rows.h describes the layout of matrices.
class Operators {
public:
    // Reports whether this CPU has the needed instructions.
    static bool are_supported();

    Operators(const OnnxRuntime & runtime, size_t threads);
    ~Operators();
    Operators(const Operators &) = delete;
    Operators & operator=(const Operators &) = delete;

    // Registers the operators with the options of a session, which they must outlive.
    void add_to(void * session_options);

    // Returns and clears whether an operator failed in a run of this thread; operators cannot report this to the session.
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
