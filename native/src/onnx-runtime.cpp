#include "onnx-runtime.h"

#include "operators.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <stdexcept>

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
    // Waiting threads release their core: other jobs and the server need it.
    const auto set = function<void * (*)(void *, const char *, const char *)>(add_session_config_entry);
    check(set(options, "session.intra_op.allow_spinning", "0"));
    const auto session = std::make_shared<Session>();
    if (Operators::are_supported()) {
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

void * OnnxRuntime::tensor(const float * data, int64_t rows, int64_t columns) const {
    const int64_t shape[] = {1, rows, columns};
    void * value = nullptr;
    using Create = void * (*)(void *, void *, size_t, const int64_t *, size_t, int, void **);
    check(function<Create>(create_tensor_with_data)(memory_, const_cast<float *>(data), sizeof(float) * rows * columns, shape,
                                                    3, float_elements, &value));
    return value;
}

void OnnxRuntime::run(Session * session, RunOptions * options, const float * input, int64_t rows, int64_t columns,
                      float * output, int64_t output_rows, int64_t output_columns) const {
    const auto release = function<void (*)(void *)>(release_value);
    const std::shared_ptr<void> from(tensor(input, rows, columns), release);
    const std::shared_ptr<void> to(tensor(output, output_rows, output_columns), release);
    // A run that was aborted.
    Operators::have_failed();
    const char * const input_name = "spectrum";
    const char * const output_name = "encoding";
    void * const inputs[] = {from.get()};
    void * outputs[] = {to.get()};
    using Run = void * (*)(void *, RunOptions *, const char * const *, void * const *, size_t, const char * const *, size_t,
                           void **);
    check(function<Run>(run_session)(session->native.get(), options, &input_name, inputs, 1, &output_name, 1, outputs));
    if (Operators::have_failed()) {
        throw std::runtime_error("there was no room to encode a window");
    }
}

OnnxRuntime::Tensor OnnxRuntime::input(void * context, size_t index) const {
    void * value = nullptr;
    check(function<void * (*)(void *, size_t, void **)>(get_kernel_input)(context, index, &value));
    void * info = nullptr;
    check(function<void * (*)(void *, void **)>(get_tensor_shape)(value, &info));
    const std::shared_ptr<void> released(info, function<void (*)(void *)>(release_tensor_shape));
    size_t dimensions = 0;
    check(function<void * (*)(void *, size_t *)>(count_dimensions)(info, &dimensions));
    Tensor tensor{nullptr, std::vector<int64_t>(dimensions)};
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
