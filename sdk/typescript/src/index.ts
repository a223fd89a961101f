export { Client, type CreateOptions, type TranscribeOptions, type WaitOptions } from "./client.ts";
export {
  ApiError,
  BadAnswerError,
  NoAnswerError,
  StillProcessingError,
  TranscribeError,
  TranscriptionFailedError,
} from "./errors.ts";
export { Operations } from "./operations.ts";
export { RecordingFile, type RecordingInput } from "./recording-file.ts";
export type { Clock, Pause, PauseReason } from "./retries.ts";
export type { CallOptions, ClientOptions, Download, UploadOptions } from "./transport.ts";
export * from "./types.ts";
