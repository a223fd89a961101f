export { type ProcessRecording, QueueStoppedError, RecordingQueue } from "./queue.ts";
