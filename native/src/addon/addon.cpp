#include "backends.h"
#include "encoder/encoder.h"
#include "job.h"
#include "log.h"
#include "model.h"
#include "parakeet-model.h"
#include "parakeet-state.h"
#include "speaker-model.h"
#include "state.h"

#include <napi.h>

// The addon's exports; their types are in src/runtimes/ggml.ts and in addon.ts of each family in src/speech/recognizer.
namespace {

Napi::Object define_addon(Napi::Env env, Napi::Object exports) {
    transcribe::install_log_callback();
    transcribe::end_jobs_with(env);
    exports.Set("version", whisper_version());
    exports.Set("checkBackend", Napi::Function::New<transcribe::check_backend>(env, "checkBackend"));
    exports.Set("loadBackend", Napi::Function::New<transcribe::load_backend>(env, "loadBackend"));
    exports.Set("cpuScore", Napi::Function::New<transcribe::cpu_score>(env, "cpuScore"));
    exports.Set("instructions", Napi::Function::New<transcribe::instructions_in_use>(env, "instructions"));
    exports.Set("devices", Napi::Function::New<transcribe::list_devices>(env, "devices"));
    exports.Set("encoderForms", Napi::Function::New<transcribe::encoder_forms>(env, "encoderForm"));
    exports.Set("Encoder", transcribe::Encoder::define(env));
    exports.Set("Model", transcribe::Model::define(env));
    exports.Set("SpeakerModel", transcribe::SpeakerModel::define(env));
    exports.Set("State", transcribe::State::define(env));
    exports.Set("ParakeetModel", transcribe::ParakeetModel::define(env));
    exports.Set("ParakeetState", transcribe::ParakeetState::define(env));
    return exports;
}

}  // namespace

NODE_API_MODULE(whisper, define_addon)
