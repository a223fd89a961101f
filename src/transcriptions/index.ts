export { Checkpoints } from "./checkpoints.ts";
export { type AnswerScope, type KeptAnswer, KeptAnswers } from "./kept-answers.ts";
export { newRecordingId } from "./recording-ids.ts";
export { type NewRecording, type Recording, Recordings } from "./recordings.ts";
export { applyRetention } from "./retention.ts";
export {
  type PackedSegment,
  packSegment,
  readSegments,
  readWholeSegments,
  type Segment,
  type SegmentSpan,
  type StoredSegment,
  speakerLabel,
  speakersOf,
  type Word,
} from "./segments.ts";
export {
  type Failure,
  failureKinds,
  failureReasonSchema,
  type InternalCause,
  isOpen,
  type Status,
  type Step,
  statusSchema,
  stepSchema,
} from "./states.ts";
