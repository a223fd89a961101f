export { type AllowList, parseAllowList } from "./allow-list.ts";
export { FetchError } from "./fetch-error.ts";
export { type FetchRequest, fetchRecording } from "./fetch-recording.ts";
export { checkRecordingUrl } from "./recording-url.ts";
