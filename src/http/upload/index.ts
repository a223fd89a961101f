export { receiveUpload, type UploadOptions } from "./receive-upload.ts";
export type { ReceivedFile, ReceivedUpload, RefusedUpload, UploadFailure } from "./upload-result.ts";
