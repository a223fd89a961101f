export { findConfinementTools } from "./confinement.ts";
export {
  type DecodedRecording,
  type DecodeRequest,
  decodeRecording,
  PCM_BYTES_PER_SAMPLE,
  PCM_SAMPLE_RATE_HZ,
} from "./decode.ts";
export {
  type AllowList,
  AllowListError,
  type CheckedUrl,
  checkRecordingUrl,
  FetchError,
  type FetchedRecording,
  type FetchFault,
  type FetchRequest,
  fetchRecording,
  parseAllowList,
  type ResolveHost,
} from "./fetch/index.ts";
export { MediaError, type MediaFault } from "./media-error.ts";
export { type ProbedRecording, probeRecording, type RefusedRecording } from "./probe.ts";
