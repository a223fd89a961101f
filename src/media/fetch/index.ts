export { type AllowList, AllowListError, parseAllowList } from "./allow-list.ts";
export { FetchError, type FetchFault } from "./fetch-error.ts";
export { type FetchedRecording, type FetchRequest, fetchRecording } from "./fetch-recording.ts";
export type { ResolveHost } from "./guarded-lookup.ts";
export { type CheckedUrl, checkRecordingUrl } from "./recording-url.ts";
