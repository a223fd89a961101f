#include "operators.h"

#include "attention.h"
#include "encoder-layers.h"
#include "in-parallel.h"
#include "kernels/lanes/instructions.h"
#include "kernels/rows.h"
#include "padding.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

namespace transcribe {

namespace {

// Element types, numbered as in ONNX.
constexpr int floats = 1;
constexpr int bytes = 2;
// Stands for bfloat16, which not all parts of ONNX Runtime support.
constexpr int halves = 4;

// The operators of a session run one after another in the session's thread.
thread_local bool failed = false;

}  // namespace

// A tensor of a call: [1][count][width], or a vector.
struct Tensor {
    void * data;
    size_t count;
    size_t width;

    template <typename Element> Element * as() const { return static_cast<Element *>(data); }
};

// Arguments of an operator.
struct Operators::Call {
    const OnnxRuntime & runtime;
    void * context;
    size_t threads;

    Tensor input(size_t index) const {
        const OnnxRuntime::Tensor tensor = runtime.input(context, index);
        const auto & shape = tensor.shape;
        return {tensor.data, shape.size() < 2 ? 1 : static_cast<size_t>(shape[shape.size() - 2]),
                shape.empty() ? 1 : static_cast<size_t>(shape.back())};
    }

    void * output(size_t index, size_t count, size_t width) const {
        return runtime.output(context, index, {1, static_cast<int64_t>(count), static_cast<int64_t>(width)});
    }

    // Returns the weights of a layer normalization, which start with this input.
    Norm norm(size_t index) const { return {input(index).as<float>(), input(index + 1).as<float>()}; }

    // Returns the positions that the last layer computes; the spectrum is this input.
    KeptPositions kept(size_t index) const {
        const Tensor spectrum = input(index);
        return {spectrum.as<float>(), spectrum.count, spectrum.width};
    }

    // Returns the weights in 8 bits whose matrix is this input and whose bias is the next one.
    Product product(size_t index, size_t inputs) const {
        const Tensor bias = input(index + 1);
        return {input(index).as<WidePanelBlock>(), bias.as<float>(), inputs, bias.width};
    }

    // Returns the weights in bfloat16 whose matrix is this input and whose bias is the next one.
    Weights weights(size_t index, size_t inputs) const {
        const Tensor bias = input(index + 1);
        return {input(index).as<Bfloat16>(), bias.as<float>(), inputs, bias.width};
    }

    // Returns the output, filled with a copy of an input.
    float * copy(const Tensor & before) const {
        auto * to = static_cast<float *>(output(0, before.count, before.width));
        std::copy_n(before.as<float>(), before.count * before.width, to);
        return to;
    }

    // Calls `work(from, to)` for all positions, at most one block at a time.
    template <typename Work> void by_blocks(size_t count, const Work & work) const {
        const size_t blocks = (count + block_positions - 1) / block_positions;
        in_parallel(threads, blocks, [&](size_t from, size_t to) {
            for (size_t block = from; block < to; block++) {
                work(block * block_positions, std::min(count, (block + 1) * block_positions));
            }
        });
    }
};

// ONNX Runtime's structure as of version 8. Kernels need no state of their own.
struct Operators::Operator {
    using Run = void (*)(const Call & call);

    uint32_t version = 8;
    void * (*create_kernel)(const Operator *, const void *, const void *) = [](const Operator * self, const void *, const void *) {
        return const_cast<void *>(static_cast<const void *>(self));
    };
    const char * (*get_name)(const Operator *) = [](const Operator * self) { return self->name; };
    const char * (*get_provider)(const Operator *) = [](const Operator *) -> const char * { return nullptr; };
    int (*get_input_type)(const Operator *, size_t) = [](const Operator * self, size_t index) { return self->inputs[index]; };
    size_t (*count_inputs)(const Operator *) = [](const Operator * self) { return self->inputs.size(); };
    int (*get_output_type)(const Operator *, size_t) = [](const Operator * self, size_t index) { return self->outputs[index]; };
    size_t (*count_outputs)(const Operator *) = [](const Operator * self) { return self->outputs.size(); };
    void (*compute_kernel)(void *, void *) = Operators::compute;
    void (*destroy_kernel)(void *) = [](void *) {};
    int (*get_input_kind)(const Operator *, size_t) = [](const Operator *, size_t) { return 0; };
    int (*get_output_kind)(const Operator *, size_t) = [](const Operator *, size_t) { return 0; };

    // From here on our own fields.
    Operators & owner;
    const char * name;
    std::vector<int> inputs;
    std::vector<int> outputs;
    Run run;

    Operator(Operators & owner, const char * name, std::vector<int> inputs, int output, Run run)
        : owner(owner), name(name), inputs(std::move(inputs)), outputs({output}), run(run) {}
};

void Operators::add(const char * name, std::vector<int> inputs, int output, void (*run)(const Call & call)) {
    operators_.push_back(std::make_unique<Operator>(*this, name, std::move(inputs), output, run));
}

bool Operators::can_use_bfloat16() {
    return instructions() == Instructions::bfloat16;
}

bool Operators::can_use_bytes() {
    return instructions() != Instructions::none;
}

#if defined(__x86_64__)

void Operators::define() {
    define_padding();
    define_in_bytes();
    define_in_bfloat16();
}

void Operators::define_padding() {
    add("Trim", {floats}, floats, [](const Call & call) {
        const Tensor spectrum = call.input(0);
        const size_t frames = needed_frames(spectrum.as<float>(), spectrum.count, spectrum.width);
        auto * output = static_cast<float *>(call.output(0, spectrum.count, frames));
        for (size_t mel = 0; mel < spectrum.count; mel++) {
            std::copy_n(spectrum.as<float>() + mel * spectrum.width, frames, output + mel * frames);
        }
    });
    add("Place", {floats, floats, floats}, floats, [](const Call & call) {
        const Tensor rows = call.input(0);
        const auto * places = call.input(1).as<float>();
        const size_t positions = call.input(2).width / 2;
        auto * output = static_cast<float *>(call.output(0, positions, rows.width));
        for (size_t i = 0; i < positions; i++) {
            const float * row = rows.as<float>() + row_of(i, rows.count, positions) * rows.width;
            std::transform(row, row + rows.width, places + i * rows.width, output + i * rows.width, std::plus<float>());
        }
    });
}

void Operators::define_in_bytes() {
    add("Interpolate", {floats, floats}, floats, [](const Call & call) {
        const Tensor rows = call.input(0);
        const KeptPositions kept = call.kept(1);
        kept.interpolate(rows.as<float>(), rows.width, static_cast<float *>(call.output(0, kept.positions(), rows.width)));
    });
    add("AddAttention", {floats, floats, floats, bytes, floats, bytes, floats}, floats, [](const Call & call) {
        const Tensor before = call.input(0);
        const AttentionLayer layer{call.norm(1), call.product(3, before.width), call.product(5, before.width)};
        layer.add_to(call.copy(before), before.count, call.threads);
    });
    add("AddKeptAttention", {floats, floats, floats, bytes, floats, bytes, floats, floats}, floats, [](const Call & call) {
        const Tensor before = call.input(0);
        const KeptPositions kept = call.kept(7);
        const AttentionLayer layer{call.norm(1), call.product(3, before.width), call.product(5, before.width)};
        auto * output = static_cast<float *>(call.output(0, kept.count(), before.width));
        layer.add_to_kept(before.as<float>(), kept, output, call.threads);
    });
    add("AddFeedForward", {floats, floats, floats, bytes, floats, bytes, floats}, floats, [](const Call & call) {
        const Tensor before = call.input(0);
        const Product first = call.product(3, before.width);
        const FeedForwardLayer layer{call.norm(1), first, call.product(5, first.outputs)};
        layer.add_to(call.copy(before), before.count, call.threads);
    });
}

void Operators::define_in_bfloat16() {
    add("Normalise", {floats, floats, floats}, halves, [](const Call & call) {
        const Tensor input = call.input(0);
        const auto [weight, bias] = call.norm(1);
        auto * output = static_cast<Bfloat16 *>(call.output(0, input.count, input.width));
        call.by_blocks(input.count, [&, weight = weight, bias = bias](size_t from, size_t to) {
            const size_t first = from * input.width;
            normalise(input.as<float>() + first, weight, bias, output + first, to - from, input.width);
        });
    });
    add("Attend", {halves, halves, floats}, halves, [](const Call & call) {
        const Tensor input = call.input(0);
        const size_t count = input.count;
        const size_t width = input.width;
        const Weights weights = call.weights(1, width);
        std::vector<float> numbers(count * weights.outputs);
        call.by_blocks(count, [&](size_t from, size_t to) {
            multiply(input.as<Bfloat16>() + from * width, weights, numbers.data() + from * weights.outputs, to - from);
        });
        std::vector<float> attended(count * width);
        attend(numbers.data(), attended.data(), count, width / head_width, call.threads);
        round_to_bfloat16(attended.data(), static_cast<Bfloat16 *>(call.output(0, count, width)), count * width);
    });
    add("Activate", {halves, halves, floats}, halves, [](const Call & call) {
        const Tensor input = call.input(0);
        const Weights weights = call.weights(1, input.width);
        auto * output = static_cast<Bfloat16 *>(call.output(0, input.count, weights.outputs));
        call.by_blocks(input.count, [&](size_t from, size_t to) {
            std::vector<float> numbers((to - from) * weights.outputs);
            multiply(input.as<Bfloat16>() + from * input.width, weights, numbers.data(), to - from);
            activate(numbers.data(), output + from * weights.outputs, numbers.size());
        });
    });
    add("Add", {floats, halves, halves, floats}, floats, [](const Call & call) {
        const Tensor before = call.input(0);
        const Tensor input = call.input(1);
        const Weights weights = call.weights(2, input.width);
        auto * output = static_cast<float *>(call.output(0, before.count, before.width));
        call.by_blocks(before.count, [&](size_t from, size_t to) {
            std::vector<float> numbers((to - from) * weights.outputs);
            multiply(input.as<Bfloat16>() + from * input.width, weights, numbers.data(), to - from);
            const size_t first = from * before.width;
            transcribe::add(before.as<float>() + first, numbers.data(), output + first, numbers.size());
        });
    });
}

#else

void Operators::define() {}

#endif

Operators::Operators(const OnnxRuntime & runtime, size_t threads) : runtime_(runtime), threads_(threads) {
    define();
    std::vector<void *> all;
    for (const auto & each : operators_) {
        all.push_back(each.get());
    }
    domain_ = runtime_.create_domain("transcribe", all);
}

Operators::~Operators() {
    runtime_.release_domain(domain_);
}

void Operators::add_to(void * session_options) {
    runtime_.add_domain(session_options, domain_);
}

void Operators::compute(void * kernel, void * context) {
    const auto & self = *static_cast<const Operator *>(kernel);
    try {
        self.run({self.owner.runtime_, context, self.owner.threads_});
    } catch (const std::exception &) {
        failed = true;
    }
}

bool Operators::have_failed() {
    return std::exchange(failed, false);
}

}  // namespace transcribe
