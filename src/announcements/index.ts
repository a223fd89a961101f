export { announce, type RecordingEvent } from "./announce.ts";
