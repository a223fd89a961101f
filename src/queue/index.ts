export { RecordingQueue } from "./queue.ts";
