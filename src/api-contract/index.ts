export * as liveMessages from "./live-messages.ts";
export {
  aliveSchema,
  basePath,
  languageSchema,
  languagesSchema,
  listedTranscriptionSchema,
  locationOf,
  readySchema,
  type SegmentResource,
  segmentPageSchema,
  segmentSchema,
  type TranscriptionResource,
  timestamp,
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
