import { describe, expect, test } from "bun:test";
import { newRecording } from "../../harness/new-recording.ts";
import { createAccount, createWorkspace } from "../../src/accounts/index.ts";
import { openDatabase } from "../../src/database/index.ts";
import { newRecordingId, Recordings, type Status, tags } from "../../src/recordings/index.ts";

type RecordingFilter = Parameters<Recordings["list"]>[0];

const start = Date.UTC(2026, 10, 21);
const minute = 60_000;
const statuses: readonly Status[] = ["queued", "processing", "completed", "failed"];

describe("a list of recordings", () => {
  const store = openDatabase(":memory:");
  let now = start;
  const recordings = new Recordings(store, () => now);
  const by = { actor: "operator", now };
  const accounts = ["first", "second"].map((name) => createAccount(store, name, by));
  const [first] = accounts;
  if (first === undefined) throw new Error("there is no account");
  const workspaces = [null, ...["sales", "legal"].map((name) => createWorkspace(store, first, name, by).id)];

  // Every combination of account, workspace and state; some records are created long after their ids.
  for (let index = 0; index < 240; index++) {
    const id = newRecordingId(now);
    now += index % 7 === 0 ? 30 * minute : 0;
    const account = accounts[index % 5 === 0 ? 1 : 0] ?? first;
    const workspaceId = account === first ? (workspaces[index % 3] ?? null) : null;
    recordings.create(newRecording(id, account.id, { workspaceId }));
    const status = statuses[Math.floor(index / 3) % 4];
    if (status !== "queued" && status !== "failed") recordings.claim(id);
    if (status === "completed") recordings.complete(id, []);
    if (status === "failed") recordings.fail(id, { reason: "no_speech" });
    now += minute;
  }
  const all = recordings.list({}, 1000);
  // A rare tag and a common one, which the other account has, too.
  const tagged = new Map<string, readonly string[]>(
    all.map(({ id }, index) => [id, [...(index % 2 === 0 ? ["common"] : []), ...(index % 50 === 0 ? ["rare"] : [])]]),
  );
  for (const recording of all) tags.replaceTags(store, recording, new Set(tagged.get(recording.id)));
  const has = (filter: RecordingFilter) => (recording: (typeof all)[number]) =>
    (filter.accountId === undefined || recording.accountId === filter.accountId) &&
    (filter.workspaceId === undefined || recording.workspaceId === filter.workspaceId) &&
    (filter.statuses === undefined || filter.statuses.includes(recording.status)) &&
    (filter.createdAfter === undefined || recording.createdAt > filter.createdAfter) &&
    (filter.createdBefore === undefined || recording.createdAt < filter.createdBefore) &&
    (filter.beforeId === undefined || recording.id < filter.beforeId) &&
    (filter.tag === undefined || tagged.get(recording.id)?.includes(filter.tag) === true);

  test("without a filter has all of them, newest first", () => {
    expect(all).toHaveLength(240);
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .toSorted()
        .reverse(),
    );
  });

  const middle = all[120];
  const choices: { readonly [N in keyof RecordingFilter]-?: readonly RecordingFilter[N][] } = {
    accountId: [undefined, first.id],
    workspaceId: [undefined, workspaces[1] ?? undefined],
    statuses: [undefined, ["failed"], ["completed", "failed"], ["queued", "queued"], statuses],
    createdAfter: [undefined, middle?.createdAt, start - 1],
    createdBefore: [undefined, middle?.createdAt, now + 1],
    beforeId: [undefined, middle?.id],
    tag: [undefined, "common", "rare", "none"],
    includesTransient: [undefined],
  };
  const combinations = Object.entries(choices).reduce<RecordingFilter[]>(
    (before, [name, values]) => before.flatMap((filter) => values.map((value) => ({ ...filter, [name]: value }))),
    [{}],
  );
  // Tags are those of an account.
  const filters = combinations.filter(({ tag, accountId }) => tag === undefined || accountId !== undefined);

  test("has exactly the recordings that match its filter, up to the limit", () => {
    expect(filters).toHaveLength(360 + 540);
    for (const filter of filters) {
      const expected = all.filter(has(filter));
      for (const limit of [3, 1000]) {
        expect([filter, recordings.list(filter, limit)]).toEqual([filter, expected.slice(0, limit)]);
      }
    }
  });
});
