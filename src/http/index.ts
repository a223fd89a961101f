export { basePath, checkStanding } from "./access.ts";
export { type AppOptions, createApp } from "./app.ts";
export { addressGroup, isLoopback } from "./client-address.ts";
export { safeFileName } from "./content-disposition.ts";
export { TranscriptionCreator } from "./create-transcription.ts";
export { type Credentials, readCredentials } from "./credentials.ts";
export { toApiError } from "./error-envelope.ts";
export { ApiError, errorCodes } from "./errors.ts";
export { ExportAnswers } from "./export-answers.ts";
export { type Client, parseTrustedProxies, type TrustedProxies } from "./forwarded.ts";
export { type HostNames, parseHostNames } from "./hosts.ts";
export { refuseOtherMethods } from "./methods.ts";
export { parseStatuses, readQuery } from "./query.ts";
export { retryAfterSeconds } from "./rate-limits.ts";
export { contextOf, type RequestContext } from "./request-context.ts";
export {
  type SegmentResource,
  segmentPageSchema,
  type TranscriptionResource,
  timestamp,
  toSegment,
  transcriptionMapper,
  transcriptionPageSchema,
  transcriptionSchema,
} from "./resources.ts";
export { type Beside, type HttpServer, startServer } from "./server.ts";
export { SlidingWindow } from "./sliding-window.ts";
export type { PaceLimits } from "./upload/index.ts";
