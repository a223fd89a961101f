import { isRecordingId, type Recording, type Recordings } from "../recordings/index.ts";
import { ConsoleError } from "./errors.ts";

/**
 * Returns a recording.
 * @throws {ConsoleError} 404 for an unknown or deleted recording, or a malformed id
 */
export function requireRecording(recordings: Recordings, id: string): Recording {
  const recording = isRecordingId(id) ? recordings.get(id) : null;
  if (recording === null) throw new ConsoleError("not_found", "There is no such recording; it may have been deleted.");
  return recording;
}

/**
 * Returns a completed recording.
 * @throws {ConsoleError} 404 as for requireRecording; 409 if the recording has not completed
 */
export function requireCompleted(recordings: Recordings, id: string): Recording {
  const recording = requireRecording(recordings, id);
  if (recording.status === "completed") return recording;
  throw new ConsoleError("not_ready", `The recording has no transcript: it is ${recording.status}.`);
}
