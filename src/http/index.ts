export { TranscriptionCreator } from "./api/create-transcription.ts";
export { createSurfaces } from "./app.ts";
export * as sockets from "./shared/accept-socket.ts";
export { readCredentials } from "./shared/credentials.ts";
export { toApiError } from "./shared/error-envelope.ts";
export { type ApiError, errorCodes } from "./shared/errors.ts";
export { ExportAnswers } from "./shared/export-answers.ts";
export { parseHostNames } from "./shared/hosts.ts";
export * as live from "./shared/live/index.ts";
export { parseOrigins } from "./shared/origins.ts";
export {
  decodeCursor,
  encodeCursor,
  PageFiller,
  pageSize,
  parseStatuses,
  readQuery,
  statusList,
} from "./shared/query.ts";
export { SlidingWindow } from "./shared/rate-limits.ts";
export { contextOf, heldBody } from "./shared/request-context.ts";
export { createRouter } from "./shared/router.ts";
export { startServer } from "./shared/server.ts";
export { readSmallBody } from "./shared/small-body.ts";
export type { Surface } from "./shared/surface.ts";
