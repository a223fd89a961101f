import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { openDatabase, type Recording } from "../../../src/database/index.ts";
import { authenticate } from "../../../src/keys/index.ts";
import { Recordings } from "../../../src/recordings/index.ts";
import { Transcript } from "../../../src/transcripts/index.ts";
import { fillDatabase } from "../../../tools/bench/fill-rows.ts";

test("a filled database contains the same recordings as a server would create", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "transcribe.db");
  const now = Date.UTC(2026, 10, 22);
  const { secret, pinnedSecret, ids, middle } = fillDatabase(path, 4000, now);
  const store = openDatabase(path);
  const recordings = new Recordings(store, () => now);
  const [key, pinned] = [secret, pinnedSecret].map((text) => authenticate(store, text, now));
  const list = (filter: Parameters<Recordings["list"]>[0]) => recordings.list(filter, 5000);

  const all = list({});
  expect(all).toHaveLength(4000);
  expect(all.map(({ createdAt }) => createdAt)).toEqual(
    all
      .map(({ createdAt }) => createdAt)
      .toSorted()
      .reverse(),
  );
  expect(list({ accountId: key?.accountId })).toHaveLength(3600);
  expect(list({ statuses: ["failed"] })).toHaveLength(40);
  expect(list({ workspaceId: pinned?.workspaceId ?? "" })).toHaveLength(4);
  expect(list({ createdBefore: middle })).toHaveLength(2000);
  expect(recordings.open.counts()).toEqual({ queued: 0, processing: 0 });
  expect(ids.length).toBeGreaterThan(100);
  for (const id of ids) {
    expect(recordings.get(id)).toMatchObject({ status: "completed", accountId: key?.accountId });
    expect(new Transcript(store, recordings.get(id) as Recording).segments(0, 100)).toHaveLength(10);
  }
  expect(store.$client.query("PRAGMA foreign_key_check").all()).toEqual([]);
  store.$client.close();
});
