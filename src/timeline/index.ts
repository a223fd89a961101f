export { chunkAudioSeconds, chunkMidpoint, clipChunk, transcribedSpans } from "./chunk-audio.ts";
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
  sharedSeconds,
  shifted,
  spanSchema,
  type Turn,
  turnSchema,
  type WorkArea,
  wordSchema,
  workAreaSchema,
} from "./spans.ts";
export { SpeechClock } from "./speech-clock.ts";
