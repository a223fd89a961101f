export { Checkpoints } from "./checkpoints.ts";
export { type AnswerScope, type KeptAnswer, KeptAnswers } from "./kept-answers.ts";
export { type NewRecording, type Recording, type RecordingFilter, Recordings, type Writer } from "./recordings.ts";
export { applyRetention, type RetentionRules } from "./retention.ts";
export {
  readSegments,
  readWholeSegments,
  type Segment,
  type StoredSegment,
  speakerLabel,
  speakersOf,
  type WholeSegment,
  type Word,
} from "./segments.ts";
export {
  type Failure,
  type FailureReason,
  failureKinds,
  failureReasonSchema,
  type InternalCause,
  isOpen,
  type Status,
  type Step,
  statusSchema,
  stepSchema,
} from "./states.ts";
