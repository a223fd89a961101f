import { newRecording } from "../../harness/new-recording.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { openDatabase, type Recording, type Store } from "../../src/database/index.ts";
import { Recordings } from "../../src/recordings/index.ts";
import type { PackedSegment, Segment } from "../../src/segments/index.ts";
import { Transcript } from "../../src/transcripts/index.ts";

type Values = Parameters<typeof newRecording>[2];

/** The recordings of one account. */
export class Shelf {
  readonly recordings: Recordings;
  readonly accountId: string;

  constructor(
    now: () => number = Date.now,
    readonly store: Store = openDatabase(":memory:"),
  ) {
    this.recordings = new Recordings(store, now);
    this.accountId = createAccount(store, "acme", { actor: "operator", now: 1 }).id;
  }

  create(values: Values = {}): Recording {
    return this.recordings.create(newRecording(Bun.randomUUIDv7(), this.accountId, values));
  }

  /** Creates a recording that has completed, and returns its transcript. */
  completed(segments: readonly (Segment | PackedSegment)[], values: Values = {}): Transcript {
    const { id } = this.create(values);
    this.recordings.claim(id);
    this.recordings.complete(id, segments);
    const recording = this.recordings.get(id);
    if (recording === null) throw new Error("the recording is missing");
    return new Transcript(this.store, recording);
  }
}
