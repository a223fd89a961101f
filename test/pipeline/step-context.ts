import { newRecording } from "../../harness/new-recording.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { openDatabase } from "../../src/database/index.ts";
import type { TrackContext } from "../../src/pipeline/tracks.ts";
import { Checkpoints, Recordings } from "../../src/recordings/index.ts";
import { DataPaths } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";

/** Creates a recording of an account in a database of its own. */
export function storedRecording(values: Parameters<typeof newRecording>[2] = {}) {
  const store = openDatabase(":memory:");
  const recordings = new Recordings(store, Date.now);
  const account = createAccount(store, "acme", { actor: "operator", now: 1 });
  const recording = recordings.create(newRecording(Bun.randomUUIDv7(), account.id, values));
  const { id } = recording;
  return { store, recordings, account, recording, id, checkpoints: new Checkpoints(store, id) };
}

/**
 * Returns the context of a step on a recording, or on its only track. By default, the files of its work are nowhere and
 * nobody can be asked.
 * @param run runs in place of each operation of the engine
 */
export function stepContext(
  { recording, checkpoints }: Pick<TrackContext, "recording" | "checkpoints">,
  run: unknown = () => Promise.reject(new Error("nothing is asked of the engine")),
  changes: Partial<TrackContext> & { readonly directory?: string } = {},
): TrackContext {
  const { directory = "/nowhere", ...others } = changes;
  return {
    ...{ recording, checkpoints, log: createLogger("silent"), files: new DataPaths(directory).filesOf(recording.id) },
    engine: { run, partsAtOnce: 1 } as TrackContext["engine"],
    area: { directory, pcm: { path: "unused", sampleCount: 1 } },
    signal: new AbortController().signal,
    progress: () => {},
    ...others,
  };
}
