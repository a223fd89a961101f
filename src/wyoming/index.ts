export type { OfferedModel } from "./transcribe-request.ts";
export { errorCodes as wyomingErrorCodes } from "./wyoming-error.ts";
export { parseListenAddress, type WyomingOptions, WyomingServer } from "./wyoming-server.ts";
