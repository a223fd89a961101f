/** Whisper, computed by whisper.cpp through the native addon. */
export { encoderPath, isSoundEncoder, noteEncoderUse } from "./encoder/make-encoder.ts";
export { whisperFamily } from "./family.ts";
export { openModel } from "./model.ts";
export type { ModelSizes } from "./model-file/index.ts";
export type { WhisperModel, WhisperState } from "./types.ts";
