#pragma once

#include <string>

// Keeps the log of whisper.cpp and ggml off stderr and stores the errors of the calling thread, so that a failed call can
// report its reason.
namespace transcribe {

// Installs the log callback for the whole process.
void install_log_callback();

// Returns and clears the error lines that this thread logged since the last call, joined by "; ".
std::string take_logged_errors();

}  // namespace transcribe
