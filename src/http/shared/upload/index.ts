export type { FormParts, ReceivedFile, TextFields } from "./form-reader.ts";
export { type PaceLimits, UPLOAD_PACE } from "./pace.ts";
export { type ReceivedUpload, type RefusedUpload, receiveUpload, type UploadOptions } from "./receive-upload.ts";
export { toUploadError } from "./upload-failure.ts";
