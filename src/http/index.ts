export { basePath } from "./access.ts";
export { type App, type AppOptions, createApp } from "./app.ts";
export { type CreateServices, createTranscriptionWith } from "./create-transcription.ts";
export type { SegmentResource, TranscriptionResource } from "./resources.ts";
export { startServer } from "./server.ts";
