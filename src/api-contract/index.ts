export * as editing from "./editing.ts";
export * as liveMessages from "./live-messages.ts";
export {
  basePath,
  languageSchema,
  languagesSchema,
  listedTranscriptionSchema,
  locationOf,
  type SegmentResource,
  segmentPageSchema,
  segmentSchema,
  type TranscriptionResource,
  timestamp,
  toListed,
  toProgress,
  toSegment,
  toTranscription,
  transcriptionPageSchema,
  transcriptionSchema,
} from "./resources.ts";
export {
  baseUrlOf,
  findRunningServer,
  originOf,
  type RunningServer,
  ServerStateFile,
  type ServerTrust,
  trustOf,
} from "./server-state-file.ts";
