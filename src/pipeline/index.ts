export { type PipelineServices, processRecording } from "./process-recording.ts";
