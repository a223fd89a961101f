#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace transcribe {

// What is used of ONNX Runtime's C interface. Its package for Node brings the library without a header, so the functions
// are taken by their places in the table: those never change, new ones are added at its end (the library itself asserts
// the places that ended its versions 1 to 4: 101, 118, 124 and 126).
class OnnxRuntime {
public:
    // Opens libonnxruntime.so.1, once for the process; throws where it can't be used.
    static const OnnxRuntime & open(const std::string & library);

    struct Session;
    struct RunOptions;

    // A tensor that an operator of our own is called with.
    struct Tensor {
        void * data;
        std::vector<int64_t> shape;
    };

    // Where this processor has what they need, the model may use operators of our own.
    std::shared_ptr<Session> load(const std::string & model, int threads) const;
    std::shared_ptr<RunOptions> run_options() const;

    // Makes calls that run under these options, and later ones, end with an error.
    void terminate(RunOptions * options) const;
    void allow(RunOptions * options) const;

    // Reads `input` of the shape [1][rows][columns] and writes `output`, [1][output_rows][output_columns], both floats.
    void run(Session * session, RunOptions * options, const float * input, int64_t rows, int64_t columns, float * output,
             int64_t output_rows, int64_t output_columns) const;

    // For operators of our own: what one is called with, and where its outputs go.
    Tensor input(void * context, size_t index) const;
    void * output(void * context, size_t index, const std::vector<int64_t> & shape) const;

    // A set of operators, each laid out as ONNX Runtime wants it; it is to live as long as the sessions that use it.
    void * create_domain(const char * name, const std::vector<void *> & operators) const;
    void add_domain(void * session_options, void * domain) const;
    void release_domain(void * domain) const;

private:
    explicit OnnxRuntime(const std::string & library);

    template <typename Function> Function function(int place) const;
    void check(void * status) const;
    void * tensor(const float * data, int64_t rows, int64_t columns) const;

    void * const * table_ = nullptr;
    void * environment_ = nullptr;
    void * memory_ = nullptr;
};

}  // namespace transcribe
