export { RecordingQueue, type RecordingQueueOptions } from "./queue.ts";
