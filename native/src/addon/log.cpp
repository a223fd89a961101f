#include "log.h"

#include <parakeet.h>
#include <whisper.h>

#include <stdexcept>

namespace transcribe {

namespace {

// A library logs a failure on the thread in which it occurs, so a buffer for each thread needs no lock.
thread_local std::string logged_errors;
thread_local bool continues_an_error = false;

// Maximum size of the stored lines; a failure logs only a few.
constexpr size_t max_logged_bytes = 2000;

void keep_errors(ggml_log_level level, const char * text, void *) {
    const bool is_error = level == GGML_LOG_LEVEL_ERROR || (level == GGML_LOG_LEVEL_CONT && continues_an_error);
    if (level != GGML_LOG_LEVEL_CONT) {
        continues_an_error = is_error;
        if (is_error && !logged_errors.empty()) {
            logged_errors += "; ";
        }
    }
    if (!is_error || logged_errors.size() > max_logged_bytes) {
        return;
    }
    for (const char * c = text; *c != '\0'; ++c) {
        if (*c != '\n' && *c != '\r') {
            logged_errors += *c;
        }
    }
}

}  // namespace

void install_log_callback() {
    // Each library sets ggml's log callback to its own, at the latest with a new state, so both get the same.
    whisper_log_set(keep_errors, nullptr);
    parakeet_log_set(keep_errors, nullptr);
}

std::string take_logged_errors() {
    std::string errors;
    errors.swap(logged_errors);
    return errors;
}

void throw_logged(const std::string & what) {
    const std::string why = take_logged_errors();
    throw std::runtime_error(what + (why.empty() ? "" : " (" + why + ")"));
}

}  // namespace transcribe
