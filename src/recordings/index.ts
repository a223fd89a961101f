export { Checkpoints } from "./checkpoints.ts";
export * as corrections from "./corrections/index.ts";
export { readDailyWork } from "./daily-work.ts";
export { RecordingEvents } from "./events.ts";
export type { RecordingFilter } from "./list-recordings.ts";
export { trimOutbox } from "./outbox.ts";
export { type Outcome, SuspendError } from "./queue/outcome.ts";
export { RecordingQueue } from "./queue/queue.ts";
export { newRecordingId } from "./recording-ids.ts";
export type { Recording } from "./recording-rows.ts";
export { Recordings } from "./recordings.ts";
export { findAll } from "./search/folded-text.ts";
export { type SearchPage, searchRecordings } from "./search/search.ts";
export { indexMissing, indexRecording } from "./search/search-index.ts";
export { SearchQuery } from "./search/search-query.ts";
export { snippetOf } from "./search/snippet.ts";
export {
  type Outline,
  type PackedSegment,
  packSegment,
  type Segment,
  type SegmentSpan,
  type SegmentWithWords,
  type StoredSegment,
} from "./segments.ts";
export { speakerIndex, speakerLabel } from "./speakers.ts";
export {
  ENDED_STATES,
  type Failure,
  failureKinds,
  failureReasonSchema,
  type InternalCause,
  isOpen,
  isServiceFault,
  type Status,
  type Step,
  statusSchema,
  stepSchema,
} from "./states.ts";
export { findAnswer, type IdempotencyScope, type StoredAnswer, storeAnswer } from "./stored-answers.ts";
export { Transcript } from "./transcript.ts";
