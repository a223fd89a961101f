export { type Confinement, parseConfinement } from "./confinement.ts";
export { type DecodeRequest, decodeRecording } from "./decode.ts";
export type { DecodeRoom } from "./decode-room.ts";
export {
  type AllowList,
  checkRecordingUrl,
  FetchError,
  type FetchRequest,
  fetchRecording,
  parseAllowList,
} from "./fetch/index.ts";
export {
  makeListeningCopy,
  readWaveform,
  roomForListening,
} from "./listening/index.ts";
export { MediaError } from "./media-error.ts";
export { PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "./pcm-format.ts";
export { probeRecording } from "./probe.ts";
export { roomForResults, roomToDecode } from "./room-to-decode.ts";
export { soundDigest } from "./sound-digest.ts";
