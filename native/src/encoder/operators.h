#pragma once

#include "onnx-runtime.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace transcribe {

// Our own ONNX operators, in the domain "transcribe", over the positions of a window. Factors in bfloat16
// are declared as uint16; rows.h and quantized.h describe the layouts of matrices.
//
// For padding (padding.h): `Trim` (spectrum) returns the frames that the convolutions need, and `Place` (convolutions, places,
// spectrum) all positions.
// In 8 bits: `AddAttention` (stream, norm, projections, output) and `AddFeedForward` (stream, norm, first, second). For the last
// layer, `AddKeptAttention` (stream, norm, projections, output, spectrum) returns only some positions, and `Interpolate` (rows,
// spectrum) all of them.
// In bfloat16: `Normalise` (input, norm) is layer normalization. The others start with a matrix product plus bias: `Attend`
// (input, weights) continues with attention, `Activate` (input, weights) with GELU, and `Add` (before, input,
// weights) adds the product to `before`.
class Operators {
public:
    // Reports whether the operators in 8 bits, or those in bfloat16, have the instructions that they need.
    static bool can_use_bytes();
    static bool can_use_bfloat16();

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
    void define_padding();
    void define_in_bytes();
    void define_in_bfloat16();
    void add(const char * name, std::vector<int> inputs, int output, void (*run)(const Call & call));
    static void compute(void * kernel, void * context);

    const OnnxRuntime & runtime_;
    const size_t threads_;
    void * domain_ = nullptr;
    std::vector<std::unique_ptr<Operator>> operators_;
};

}  // namespace transcribe
