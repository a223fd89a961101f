import { beforeEach, describe, expect, test } from "bun:test";
import { createAccount } from "../../src/accounts/index.ts";
import { openDatabase, type Store } from "../../src/storage/index.ts";
import { KeptAnswers, Recordings } from "../../src/transcriptions/index.ts";
import { newRecording } from "../support/new-recording.ts";

const day = 86_400_000;

describe("deleting a recording", () => {
  let store: Store;
  let recordings: Recordings;
  let accountId: string;
  beforeEach(() => {
    store = openDatabase(":memory:");
    recordings = new Recordings(store, () => 1000);
    accountId = createAccount(store, "acme", { actor: "operator", now: 1 }).id;
  });
  const states = {
    queued: () => {},
    processing: (id: string) => void recordings.claim(id),
    completed: (id: string) => {
      recordings.claim(id);
      recordings.complete(id, []);
    },
    failed: (id: string) => void recordings.fail(id, { reason: "too_short" }),
  };

  const rules: [keyof typeof states, boolean, boolean][] = [
    ["queued", false, false],
    ["processing", false, false],
    ["completed", false, true],
    ["failed", false, true],
    ["queued", true, false],
    ["processing", true, false],
    ["completed", true, false],
    ["failed", true, false],
  ];
  for (const [state, held, deleted] of rules) {
    test(`that is ${state}${held ? " and held" : ""} is ${deleted ? "done" : "refused, and leaves it whole"}`, () => {
      const { id } = recordings.create(newRecording(Bun.randomUUIDv7(), accountId));
      states[state](id);
      if (held) recordings.setHold(id, true);
      let also = false;
      expect(
        recordings.delete(id, () => {
          also = true;
        }),
      ).toBe(deleted);
      expect([recordings.get(id) === null, also]).toEqual([deleted, deleted]);
      expect(recordings.delete(id)).toBe(false);
    });
  }

  test("a hold is set once and let go once, and is told from nothing having changed", () => {
    const { id } = recordings.create(newRecording(Bun.randomUUIDv7(), accountId));
    const entries: string[] = [];
    const set = (held: boolean) => recordings.setHold(id, held, () => void entries.push(String(held)));
    expect([set(false), set(true), set(true), set(false), set(false)]).toEqual([false, true, false, true, false]);
    expect(entries).toEqual(["true", "false"]);
    expect(recordings.setHold("nothing", true)).toBe(false);
  });

  test("empties the answer that was kept for it, and no other", () => {
    const answers = new KeptAnswers(store);
    const ids = ["a", "b"].map((key) => {
      const { id } = recordings.create(newRecording(Bun.randomUUIDv7(), accountId));
      const answer = { fingerprint: key, status: 201, body: `body of ${key}`, recordingId: id };
      answers.keep({ accountId, workspaceId: null, key }, answer, 0);
      return id;
    });
    recordings.fail(ids[0] ?? "", { reason: "no_speech" });
    recordings.delete(ids[0] ?? "");
    const bodies = ["a", "b"].map((key) => answers.find({ accountId, workspaceId: null, key }, 1)?.body);
    expect(bodies).toEqual([null, "body of b"]);
  });
});

describe("a kept answer", () => {
  test("is found by account, workspace and key alone, for 24 hours, and can be kept anew after that", () => {
    const store = openDatabase(":memory:");
    const accountId = createAccount(store, "acme", { actor: "operator", now: 1 }).id;
    const answers = new KeptAnswers(store);
    const scope = { accountId, workspaceId: "w", key: "k" };
    const answer = { fingerprint: "f", status: 422, body: "b", recordingId: null };
    answers.keep(scope, answer, 0);
    expect(answers.find(scope, day - 1)).toEqual(answer);
    for (const other of [
      { accountId: "x" },
      { workspaceId: null },
      { workspaceId: "W" },
      { key: "K" },
      { key: "k " },
    ]) {
      expect(answers.find({ ...scope, ...other }, 1)).toBeNull();
    }
    expect(answers.find(scope, day)).toBeNull();
    answers.keep(scope, { ...answer, fingerprint: "g" }, day);
    expect(answers.find(scope, day)?.fingerprint).toBe("g");
  });
});
