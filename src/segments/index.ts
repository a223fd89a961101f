export { type CorrectedState, latestRevision, parseState } from "./corrected-state.ts";
export {
  type Outline,
  type PackedSegment,
  packSegment,
  type Segment,
  type SegmentSpan,
  type SegmentWithWords,
  type StoredSegment,
  type StoredWord,
  segmentPlaceholders,
  writeSegments,
  writeTranslation,
} from "./segments.ts";
export { readFacts, type TranscriptFacts, transcriptFactsSchema, writeFacts } from "./transcript-facts.ts";
