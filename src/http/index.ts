export { basePath } from "./access.ts";
export { type AppOptions, createApp } from "./app.ts";
export { TranscriptionCreator } from "./create-transcription.ts";
export { type Credentials, readCredentials } from "./credentials.ts";
export { errorCodes } from "./errors.ts";
export { parseTrustedProxies, type TrustedProxies } from "./forwarded.ts";
export {
  type SegmentResource,
  segmentPageSchema,
  type TranscriptionResource,
  toSegment,
  transcriptionMapper,
  transcriptionPageSchema,
  transcriptionSchema,
} from "./resources.ts";
export { type HttpServer, startServer } from "./server.ts";
