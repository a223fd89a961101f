export { chunkAudioSeconds, chunkMidpoint, clipChunk, transcribedSpans } from "./chunk-audio.ts";
export {
  BLOCK_SECONDS,
  blockCount,
  blockWindows,
  FRAME_SAMPLES,
  frameSample,
  frameSeconds,
  HOP_FRAMES,
  LOCAL_SPEAKERS,
  WINDOW_FRAMES,
  WINDOW_SAMPLES,
  windowSample,
} from "./grid.ts";
export { OverlapFinder } from "./overlap-finder.ts";
export { SAMPLE_RATE } from "./sample-rate.ts";
export { secondsOf } from "./seconds-of.ts";
export { shifted } from "./shifted.ts";
export {
  type Chunk,
  chunkSchema,
  type EngineWord,
  type PcmFile,
  type Span,
  spanSchema,
  type Turn,
  turnSchema,
  wordSchema,
} from "./spans.ts";
export { SpeechClock } from "./speech-clock.ts";
export {
  hasBlock,
  readBlock,
  readItem,
  type WorkArea,
  type WorkItem,
  workAreaSchema,
  writeBlock,
  writeItem,
} from "./work-area.ts";
