/** whisper.cpp through the native addon: load it, open a model, transcribe with a state. */
export { countPromptTokens, maxPromptTokens } from "./count-prompt-tokens.ts";
export { encoderPath, isSoundEncoder, makeEncoder, noteEncoderUse } from "./encoder/index.ts";
export { type GpuBackend, type GpuBackendKind, gpuBackends, isCpuLibrary, isGpuLibrary } from "./libraries.ts";
export { ModelFileError, validateModelFile } from "./model-file/index.ts";
export { readModelHeader } from "./model-header.ts";
export { loadWhisper, rateCpuLibrary } from "./runtime.ts";
export { findSilences } from "./silences.ts";
export { toPrompt } from "./to-prompt.ts";
export { transcribeChunk } from "./transcription/index.ts";
export type {
  EncoderOptions,
  WhisperModel,
  WhisperRuntime,
  WhisperSegment,
  WhisperState,
  WhisperWord,
} from "./types.ts";
