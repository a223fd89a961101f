export type { RecordingModels } from "./bind-model.ts";
export { removeWorkOfEnded } from "./complete.ts";
export { recoverWork } from "./decode.ts";
export { fetchLink } from "./fetch.ts";
export { processRecording } from "./process-recording.ts";
export type { PipelineServices } from "./services.ts";
