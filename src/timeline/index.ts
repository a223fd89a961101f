export { hasBlock, readBlock, writeBlock } from "./blocks.ts";
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
export {
  type Chunk,
  chunkSchema,
  type EngineWord,
  embeddedPart,
  type PcmFile,
  SAMPLE_RATE,
  type Span,
  secondsOf,
  shifted,
  spanSchema,
  type Turn,
  turnSchema,
  type WorkArea,
  wordSchema,
  workAreaSchema,
} from "./spans.ts";
export { SpeechClock } from "./speech-clock.ts";
export { openItem, type WorkItem, writeItem } from "./work-area.ts";
