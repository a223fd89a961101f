export { type PaceLimits, uploadPace } from "./pace.ts";
export { receiveUpload, type UploadOptions } from "./receive-upload.ts";
export type { ReceivedFile, ReceivedUpload, RefusedUpload, UploadFailure } from "./upload-result.ts";
export { type UploadReservation, UploadSpace } from "./upload-space.ts";
