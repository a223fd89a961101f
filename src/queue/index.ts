export { type ProcessRecording, QueueStoppedError, RecordingEndedError, RecordingQueue } from "./queue.ts";
