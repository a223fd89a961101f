export { Client, type CreateOptions, type ExportLayout, type TranscribeOptions, type WaitOptions } from "./client.ts";
export { Editing } from "./editing.ts";
export {
  ApiError,
  BadAnswerError,
  LiveClosedError,
  NoAnswerError,
  StillProcessingError,
  TranscribeError,
  TranscriptionFailedError,
} from "./errors.ts";
export type {
  LiveEncoding,
  LiveEnded,
  LiveEndReason,
  LiveEvent,
  LiveParameters,
  LiveSegment,
  LiveUpdate,
} from "./live/messages.ts";
export { type LiveOptions, LiveSession, type LiveSound } from "./live/session.ts";
export type { LiveSocket, LiveSocketClass } from "./live/socket.ts";
export { Operations } from "./operations.ts";
export { RecordingFile, type RecordingInput } from "./recording-file.ts";
export type { Clock, Pause, PauseReason } from "./retries.ts";
export type { CallOptions, ClientOptions, Download, UploadOptions } from "./transport.ts";
export * from "./types.ts";
