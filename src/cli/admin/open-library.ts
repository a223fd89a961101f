import type { Store } from "../../database/index.ts";
import { Library, LibraryError, type Refusal, type RerunRefusal } from "../../library/index.ts";
import { Recordings } from "../../recordings/index.ts";
import type { DataDirectory } from "../../storage/index.ts";
import { Usage } from "../../usage/index.ts";
import { CommandError } from "../command-error.ts";

/** Returns the recordings of a data directory, for a command. */
export function libraryOf(store: Store, dataDirectory: DataDirectory): Library {
  const recordings = new Recordings(store, Date.now);
  return new Library({ store, recordings, dataDirectory, usage: new Usage(store), now: Date.now });
}

/** @throws {CommandError} if a recording is not read or changed */
export async function orRefused<T>(id: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof LibraryError)) throw error;
    throw new CommandError(refusalText(id, error.refusal));
  }
}

function refusalText(id: string, refusal: Refusal): string {
  switch (refusal.kind) {
    case "not_found":
    case "other_workspace":
      return `there is no recording ${id}; list them with: transcribe recordings list`;
    case "not_allowed":
      return `recording ${id} can't be changed: only an operator may do this`;
    case "held":
      return `recording ${id} can't be deleted: it is held; release it first`;
    case "still_open":
      return `recording ${id} can't be deleted: it is ${refusal.status}; cancel it first`;
    case "has_ended":
      return `recording ${id} can't be cancelled: it is ${refusal.status}`;
    case "not_corrected":
      return `the transcript of recording ${id} can't be corrected: ${refusal.reason}`;
    case "not_completed":
      return `recording ${id} has no transcript: it is ${refusal.status}`;
    case "not_processed":
      return `recording ${id} can't be processed again: ${rerunTexts[refusal.reason]}`;
  }
}

const rerunTexts: Readonly<Record<RerunRefusal, string>> = {
  no_audio: "its audio is no longer stored (retention.audio_days)",
  already_open: "it is being processed again; cancel that first: transcribe recordings cancel ID",
  no_place: "its account has as many queued and processing recordings as it may have; wait until one has finished",
};
