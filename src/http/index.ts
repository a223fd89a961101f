export { requireActive } from "./access.ts";
export { deleteRecording } from "./api-routes.ts";
export { createApp } from "./app.ts";
export { parseNetworks } from "./client.ts";
export { safeFileName } from "./content-disposition.ts";
export { TranscriptionCreator } from "./create-transcription.ts";
export { type Credentials, readCredentials } from "./credentials.ts";
export { toApiError } from "./error-envelope.ts";
export { ApiError, errorCodes } from "./errors.ts";
export { ExportAnswers } from "./export-answers.ts";
export { parseHostNames } from "./hosts.ts";
export { decodeCursor, encodeCursor, firstPage, pageSize, parseStatuses, readQuery, statusList } from "./query.ts";
export { SlidingWindow } from "./rate-limits.ts";
export { contextOf, type RequestContext } from "./request-context.ts";
export {
  basePath,
  type SegmentResource,
  segmentPageSchema,
  type TranscriptionResource,
  timestamp,
  toProgress,
  toSegment,
  transcriptionPageSchema,
  transcriptionSchema,
} from "./resources.ts";
export { createRouter } from "./router.ts";
export { type ExtraPaths, startServer } from "./server.ts";
