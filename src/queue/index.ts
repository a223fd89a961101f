export { type Outcome, SuspendError } from "./outcome.ts";
export { RecordingQueue } from "./queue.ts";
