#include "onnx-runtime.h"

#include "operators.h"

#include <dlfcn.h>

#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <type_traits>

namespace transcribe {

namespace {

// First version of the table with all indices below: version 5 added named settings of a session.
constexpr uint32_t table_version = 5;

enum Index {
    get_error_message = 2,
    create_env = 3,
    create_session = 7,
    run_session = 9,
    create_session_options = 10,
    disable_memory_pattern = 17,
    set_graph_optimization_level = 23,
    set_intra_op_threads = 24,
    create_operator_domain = 26,
    add_operator = 27,
    add_operator_domain = 28,
    create_run_options = 39,
    set_terminate = 46,
    unset_terminate = 47,
    create_tensor_with_data = 49,
    get_tensor_data = 51,
    get_element_type = 60,
    count_dimensions = 61,
    get_dimensions = 62,
    get_tensor_shape = 65,
    create_cpu_memory_info = 69,
    get_kernel_input = 90,
    get_kernel_output = 91,
    release_status = 93,
    release_session = 95,
    release_value = 96,
    release_run_options = 97,
    release_tensor_shape = 99,
    release_session_options = 100,
    release_operator_domain = 101,
    add_session_config_entry = 130,
};

constexpr int errors_only = 3;
constexpr int all_optimizations = 99;
constexpr int arena_allocator = 1;
constexpr int default_memory = 0;
constexpr int float_elements = 1;
constexpr int integer_elements = 7;

size_t size_of(const std::vector<int64_t> & shape) {
    return static_cast<size_t>(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()));
}

using Run = void * (*)(void * session, OnnxRuntime::RunOptions *, const char * const * input_names, void * const * inputs,
                       size_t, const char * const * output_names, size_t, void ** outputs);

struct ApiBase {
    void * const * (*get_api)(uint32_t version);
    const char * (*get_version)();
};

}  // namespace

struct OnnxRuntime::Session {
    std::unique_ptr<Operators> operators;
    std::shared_ptr<void> native;
};

template <typename Function> Function OnnxRuntime::function(int place) const {
    return reinterpret_cast<Function>(table_[place]);
}

void OnnxRuntime::check(void * status) const {
    if (status == nullptr) {
        return;
    }
    const std::string message = function<const char * (*)(void *)>(get_error_message)(status);
    function<void (*)(void *)>(release_status)(status);
    throw std::runtime_error("ONNX Runtime: " + message);
}

const OnnxRuntime & OnnxRuntime::open(const std::string & library) {
    static std::mutex mutex;
    static std::map<std::string, OnnxRuntime> opened;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto known = opened.find(library);
    // Never closed: the library's threads may outlive its users.
    return known != opened.end() ? known->second : opened.emplace(library, OnnxRuntime(library)).first->second;
}

OnnxRuntime::OnnxRuntime(const std::string & library) {
    void * handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        throw std::runtime_error(dlerror());
    }
    const auto get_base = reinterpret_cast<const ApiBase * (*)()>(dlsym(handle, "OrtGetApiBase"));
    table_ = get_base == nullptr ? nullptr : get_base()->get_api(table_version);
    if (table_ == nullptr) {
        throw std::runtime_error(library + " is not an ONNX Runtime of a known kind");
    }
    check(function<void * (*)(int, const char *, void **)>(create_env)(errors_only, "whisper", &environment_));
    check(function<void * (*)(int, int, void **)>(create_cpu_memory_info)(arena_allocator, default_memory, &memory_));
}

std::shared_ptr<OnnxRuntime::Session> OnnxRuntime::load(const std::string & model, int threads) const {
    void * options = nullptr;
    check(function<void * (*)(void **)>(create_session_options)(&options));
    const std::shared_ptr<void> released(options, function<void (*)(void *)>(release_session_options));
    check(function<void * (*)(void *, int)>(set_intra_op_threads)(options, threads));
    check(function<void * (*)(void *, int)>(set_graph_optimization_level)(options, all_optimizations));
    // A pattern plans the memory of each length of audio anew: more memory, and more time.
    check(function<void * (*)(void *)>(disable_memory_pattern)(options));
    // Waiting threads release their core: other jobs and the server need it.
    const auto set = function<void * (*)(void *, const char *, const char *)>(add_session_config_entry);
    check(set(options, "session.intra_op.allow_spinning", "0"));
    const auto session = std::make_shared<Session>();
    if (Operators::can_use_bytes()) {
        session->operators = std::make_unique<Operators>(*this, threads);
        session->operators->add_to(options);
    }
    void * native = nullptr;
    check(function<void * (*)(void *, const char *, void *, void **)>(create_session)(environment_, model.c_str(), options,
                                                                                    &native));
    session->native.reset(native, function<void (*)(void *)>(release_session));
    return session;
}

std::shared_ptr<OnnxRuntime::RunOptions> OnnxRuntime::run_options() const {
    void * options = nullptr;
    check(function<void * (*)(void **)>(create_run_options)(&options));
    return std::shared_ptr<RunOptions>(static_cast<RunOptions *>(options),
                                       function<void (*)(RunOptions *)>(release_run_options));
}

void OnnxRuntime::terminate(RunOptions * options) const {
    check(function<void * (*)(RunOptions *)>(set_terminate)(options));
}

void OnnxRuntime::allow(RunOptions * options) const {
    check(function<void * (*)(RunOptions *)>(unset_terminate)(options));
}

template <typename Number>
std::shared_ptr<void> OnnxRuntime::tensor(const Number * data, size_t count, const std::vector<int64_t> & shape) const {
    if (count != size_of(shape)) {
        throw std::runtime_error("the numbers of an input do not have its shape");
    }
    constexpr int type = std::is_same_v<Number, float> ? float_elements : integer_elements;
    void * value = nullptr;
    using Create = void * (*)(void *, void *, size_t, const int64_t *, size_t, int, void **);
    check(function<Create>(create_tensor_with_data)(memory_, const_cast<Number *>(data), sizeof(Number) * count, shape.data(),
                                                    shape.size(), type, &value));
    return std::shared_ptr<void>(value, function<void (*)(void *)>(release_value));
}

void OnnxRuntime::run(Session * session, RunOptions * options, const float * input, int64_t rows, int64_t columns,
                      float * output, int64_t output_rows, int64_t output_columns) const {
    const auto from = tensor(input, rows * columns, {1, rows, columns});
    const auto to = tensor(output, output_rows * output_columns, {1, output_rows, output_columns});
    // A run that was aborted.
    Operators::have_failed();
    const char * const input_name = "spectrum";
    const char * const output_name = "encoding";
    void * const inputs[] = {from.get()};
    void * outputs[] = {to.get()};
    check(function<Run>(run_session)(session->native.get(), options, &input_name, inputs, 1, &output_name, 1, outputs));
    if (Operators::have_failed()) {
        throw std::runtime_error("there was no room to encode a window");
    }
}

OnnxRuntime::Array OnnxRuntime::run(Session * session, const Arrays & inputs, const std::string & output) const {
    std::vector<const char *> names;
    std::vector<std::shared_ptr<void>> owned;
    std::vector<void *> values;
    for (const auto & [name, array] : inputs) {
        names.push_back(name.c_str());
        owned.push_back(array.floats.empty() ? tensor(array.integers.data(), array.integers.size(), array.shape)
                                             : tensor(array.floats.data(), array.floats.size(), array.shape));
        values.push_back(owned.back().get());
    }
    const char * const output_name = output.c_str();
    void * outputs[] = {nullptr};
    check(function<Run>(run_session)(session->native.get(), nullptr, names.data(), values.data(), values.size(), &output_name, 1,
                                     outputs));
    const std::shared_ptr<void> to(outputs[0], function<void (*)(void *)>(release_value));
    const Tensor found = read(to.get());
    if (found.type != float_elements) {
        throw std::runtime_error("the output " + output + " has no floats");
    }
    const auto * first = static_cast<const float *>(found.data);
    return {found.shape, std::vector<float>(first, first + size_of(found.shape)), {}};
}

OnnxRuntime::Tensor OnnxRuntime::input(void * context, size_t index) const {
    void * value = nullptr;
    check(function<void * (*)(void *, size_t, void **)>(get_kernel_input)(context, index, &value));
    return read(value);
}

OnnxRuntime::Tensor OnnxRuntime::read(void * value) const {
    void * info = nullptr;
    check(function<void * (*)(void *, void **)>(get_tensor_shape)(value, &info));
    const std::shared_ptr<void> released(info, function<void (*)(void *)>(release_tensor_shape));
    size_t dimensions = 0;
    check(function<void * (*)(void *, size_t *)>(count_dimensions)(info, &dimensions));
    Tensor tensor{nullptr, std::vector<int64_t>(dimensions), 0};
    check(function<void * (*)(void *, int *)>(get_element_type)(info, &tensor.type));
    check(function<void * (*)(void *, int64_t *, size_t)>(get_dimensions)(info, tensor.shape.data(), dimensions));
    check(function<void * (*)(void *, void **)>(get_tensor_data)(value, &tensor.data));
    return tensor;
}

void * OnnxRuntime::output(void * context, size_t index, const std::vector<int64_t> & shape) const {
    void * value = nullptr;
    using Get = void * (*)(void *, size_t, const int64_t *, size_t, void **);
    check(function<Get>(get_kernel_output)(context, index, shape.data(), shape.size(), &value));
    void * data = nullptr;
    check(function<void * (*)(void *, void **)>(get_tensor_data)(value, &data));
    return data;
}

void * OnnxRuntime::create_domain(const char * name, const std::vector<void *> & operators) const {
    void * domain = nullptr;
    check(function<void * (*)(const char *, void **)>(create_operator_domain)(name, &domain));
    for (void * each : operators) {
        check(function<void * (*)(void *, void *)>(add_operator)(domain, each));
    }
    return domain;
}

void OnnxRuntime::add_domain(void * session_options, void * domain) const {
    check(function<void * (*)(void *, void *)>(add_operator_domain)(session_options, domain));
}

void OnnxRuntime::release_domain(void * domain) const {
    function<void (*)(void *)>(release_operator_domain)(domain);
}

}  // namespace transcribe
