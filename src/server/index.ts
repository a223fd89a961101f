export { createMetrics, type MeasuredParts } from "./create-metrics.ts";
export { type LocalPipeline, openLocalPipeline } from "./local-pipeline.ts";
export { programFilesFor, runtimeDirectoryOf } from "./program-files-for.ts";
export { openProgramParts } from "./program-parts.ts";
export {
  baseUrlOf,
  findRunningServer,
  originOf,
  type RunningServer,
  type ServerTrust,
  trustOf,
} from "./running-server.ts";
export { settingFaults } from "./setting-faults.ts";
export { currentSpeechModel, speechModelsFor } from "./speech-models-for.ts";
export { withSpeechSample } from "./speech-sample.ts";
export { StartError } from "./start-error.ts";
export { type ServerStatus, startTranscribeServer, type TranscribeServer } from "./transcribe-server.ts";
