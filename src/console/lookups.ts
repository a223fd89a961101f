import { type Account, getAccount, getWorkspace, type Workspace } from "../accounts/index.ts";
import type { Recording, Recordings } from "../recordings/index.ts";
import { isRecordingId, type Store } from "../storage/index.ts";
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

/**
 * Returns an account.
 * @throws {ConsoleError} 422 for an unknown account
 */
export function requireAccount(store: Store, id: string): Account {
  const account = getAccount(store, id);
  if (account !== null) return account;
  throw new ConsoleError("validation_failed", "There is no such account.", { field: "account" });
}

/**
 * Returns the chosen workspace; null if none was chosen.
 * @throws {ConsoleError} 422 if the workspace does not belong to the account
 */
export function requireWorkspace(store: Store, account: Account, id: string | null | undefined): Workspace | null {
  const chosen = id ?? null;
  if (chosen === null) return null;
  const workspace = getWorkspace(store, chosen);
  if (workspace?.accountId === account.id) return workspace;
  throw new ConsoleError("validation_failed", "The account has no such workspace.", { field: "workspace" });
}
