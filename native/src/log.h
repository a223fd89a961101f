#pragma once

#include <string>

// Routes the log of whisper.cpp and ggml away from stderr and keeps the errors of the calling thread,
// so that a failed call can say why.
namespace transcribe {

// Installs the log callback for the whole process.
void install_log_callback();

// The error lines logged on this thread since the last call, joined by "; ", without the line ends.
std::string take_logged_errors();

}  // namespace transcribe
