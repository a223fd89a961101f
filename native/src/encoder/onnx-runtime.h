#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace transcribe {

// The part of ONNX Runtime's C interface that is used. The Node package has the library but no header, so functions are
// called by their index in the table. Indices never change; new functions are appended (the library itself asserts the
// last indices of versions 1 to 4: 101, 118, 124 and 126). See docs/decisions/0009-native-sources.md.
class OnnxRuntime {
public:
    // Opens libonnxruntime.so.1 once for the process. Throws if it cannot be used.
    static const OnnxRuntime & open(const std::string & library);

    struct Session;
    struct RunOptions;

    // An output, or an argument of one of our own operators.
    struct Tensor {
        void * data;
        std::vector<int64_t> shape;
        int type; // of the elements, a number of onnx.proto
    };

    // Numbers of a shape: floats or integers.
    struct Array {
        std::vector<int64_t> shape;
        std::vector<float> floats;
        std::vector<int64_t> integers;
    };
    using Arrays = std::vector<std::pair<std::string, Array>>;

    // Loads a model. On a CPU with the needed instructions it may use our own operators.
    std::shared_ptr<Session> load(const std::string & model, int threads) const;
    std::shared_ptr<RunOptions> run_options() const;

    // Makes running and later calls with these options fail.
    void terminate(RunOptions * options) const;
    void allow(RunOptions * options) const;

    // Reads `input` of the shape [1][rows][columns] and writes `output`, [1][output_rows][output_columns], both floats.
    void run(Session * session, RunOptions * options, const float * input, int64_t rows, int64_t columns, float * output,
             int64_t output_rows, int64_t output_columns) const;

    // Reads named inputs and returns an output of floats. Several threads may run a session at once.
    Array run(Session * session, const Arrays & inputs, const std::string & output) const;

    // For our own operators: arguments and outputs of a call.
    Tensor input(void * context, size_t index) const;
    void * output(void * context, size_t index, const std::vector<int64_t> & shape) const;

    // A set of operators in ONNX Runtime's layout. It must outlive the sessions that use it.
    void * create_domain(const char * name, const std::vector<void *> & operators) const;
    void add_domain(void * session_options, void * domain) const;
    void release_domain(void * domain) const;

private:
    explicit OnnxRuntime(const std::string & library);

    template <typename Function> Function function(int place) const;
    void check(void * status) const;
    // Returns a tensor over data that must outlive it. Throws if the data does not have the shape's size.
    template <typename Number> std::shared_ptr<void> tensor(const Number * data, size_t count, const std::vector<int64_t> & shape) const;
    Tensor read(void * value) const;

    void * const * table_ = nullptr;
    void * environment_ = nullptr;
    void * memory_ = nullptr;
};

}  // namespace transcribe
