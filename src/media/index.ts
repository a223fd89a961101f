export { findConfinementTools } from "./confinement.ts";
export {
  type DecodeRequest,
  decodeRecording,
  PCM_BYTES_PER_SAMPLE,
  PCM_SAMPLE_RATE_HZ,
} from "./decode.ts";
export {
  type AllowList,
  checkRecordingUrl,
  FetchError,
  type FetchRequest,
  fetchRecording,
  parseAllowList,
} from "./fetch/index.ts";
export { MediaError } from "./media-error.ts";
export { probeRecording } from "./probe.ts";
export { roomToDecode } from "./room-to-decode.ts";
