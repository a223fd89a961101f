#pragma once

#include <string>

// Keeps the log of whisper.cpp, parakeet.cpp and ggml off stderr and stores the errors of the calling thread, so that a failed call can
// report its reason.
namespace transcribe {

// Installs the log callback for the whole process.
void install_log_callback();

// Returns and clears the error lines that this thread logged since the last call, joined by "; ".
std::string take_logged_errors();

// Throws a std::runtime_error with the error lines of this thread in parentheses.
[[noreturn]] void throw_logged(const std::string & what);

}  // namespace transcribe
