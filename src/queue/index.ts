export { QueueStoppedError, RecordingEndedError, RecordingQueue } from "./queue.ts";
