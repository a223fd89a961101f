export { Checkpoints } from "./checkpoints.ts";
export { readDailyWork } from "./daily-work.ts";
export { RecordingEvents } from "./events.ts";
export type { RecordingFilter } from "./list-recordings.ts";
export { trimOutbox } from "./outbox.ts";
export { newRecordingId } from "./recording-ids.ts";
export { Recordings } from "./recordings.ts";
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
export * as tags from "./tags.ts";
