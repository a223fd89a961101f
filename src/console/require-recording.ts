import { isRecordingId, type Recording, type Recordings } from "../recordings/index.ts";
import { ConsoleError } from "./errors.ts";

/** @throws {ConsoleError} 404 for one that is unknown, deleted, or no id */
export function requireRecording(recordings: Recordings, id: string): Recording {
  const recording = isRecordingId(id) ? recordings.get(id) : null;
  if (recording === null) throw new ConsoleError("not_found", "There is no such recording; it may have been deleted.");
  return recording;
}

/** @throws {ConsoleError} 404, and 409 for one that has not completed */
export function requireCompleted(recordings: Recordings, id: string): Recording {
  const recording = requireRecording(recordings, id);
  if (recording.status === "completed") return recording;
  throw new ConsoleError("not_ready", `The recording has no transcript: it is ${recording.status}.`);
}
