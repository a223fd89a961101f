export { announce, isPending, parseEvents, type RecordingEvent } from "./announce.ts";
