// Checks the kernels of native/src against references in 64 bits, with the instructions of a CPU variant of ggml:
//
//   kernels LIBRARY [avx_vnni]
//
// Prints the kind of instructions, then a line for each check. The second argument replaces the kind: see
// kernels.integration.test.ts. The exit status is 1 if a check fails.

#include "checks.h"

#include <ggml-backend.h>

#include <cstdio>
#include <cstring>

namespace transcribe {

// The function `instructions` of instructions.cpp, which is renamed when it is compiled for this program.
Instructions detected_instructions();

namespace {
Instructions replaced = Instructions::none;
}

Instructions instructions() {
    return replaced == Instructions::none ? detected_instructions() : replaced;
}

}  // namespace transcribe

namespace checks {

namespace {
bool is_failed = false;
}

void report(const std::string & name, double error, double limit) {
    const bool passes = error <= limit;
    std::printf("%s %s: %.3g (limit %.3g)\n", passes ? "ok    " : "FAILED", name.c_str(), error, limit);
    is_failed = is_failed || !passes;
}

}  // namespace checks

int main(int count, char ** arguments) {
    using namespace checks;
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // so that lines before a crash are printed
    if (count < 2 || ggml_backend_load(arguments[1]) == nullptr) {
        std::fprintf(stderr, "cannot load the CPU variant\n");
        return 2;
    }
    if (count > 2 && std::strcmp(arguments[2], "avx_vnni") == 0) {
        transcribe::replaced = transcribe::Instructions::avx_vnni;
    }
    std::printf("kind: %s\n", transcribe::name_of(transcribe::instructions()));
    if (transcribe::instructions() == transcribe::Instructions::none) {
        return 2;
    }
    check_quantized();
    check_packed_weights();
    check_cross_attention();
    check_attention();
    check_steps();
    check_layers();
    check_sixteen();
    return is_failed ? 1 : 0;
}
