export type { RecordingModels } from "./bind-model.ts";
export { type PipelineServices, processRecording } from "./process-recording.ts";
