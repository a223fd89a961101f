export { type ListenAddress, parseListenAddress } from "./listen-address.ts";
export type { OfferedModel } from "./transcribe-request.ts";
export { errorCodes as wyomingErrorCodes } from "./wyoming-error.ts";
export { type WyomingOptions, WyomingServer } from "./wyoming-server.ts";
