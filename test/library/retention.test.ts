import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { eq } from "drizzle-orm";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { openDatabase, type Store, tables } from "../../src/database/index.ts";
import { applyRetention } from "../../src/library/index.ts";
import { newRecordingId, Recordings } from "../../src/recordings/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";

const day = 86_400_000;

describe("retention", () => {
  let parent: ReturnType<typeof temporaryDirectory>;
  let directory: DataDirectory;
  let store: Store;
  let recordings: Recordings;
  let accountId: string;
  let now = 0;

  beforeEach(() => {
    parent = temporaryDirectory();
    directory = new DataDirectory(parent.path);
    store = openDatabase(":memory:");
    now = 1_000 * day;
    recordings = new Recordings(store, () => now);
    accountId = createAccount(store, "acme", { actor: "operator", now }).id;
  });
  afterEach(() => parent[Symbol.dispose]());

  /** Creates recordings in every state, each with its audio, ten days ago. */
  const enterAll = () => {
    const enter = (move: (id: string) => void) => {
      const { id } = recordings.create(newRecording(newRecordingId(now), accountId));
      move(id);
      writeFileSync(directory.localAudio.pathOf(id), "audio");
      mkdirSync(directory.filesOf(id).work);
      return id;
    };
    const completed = (id: string) => {
      recordings.claim(id);
      recordings.complete(id, []);
    };
    const ids = {
      waiting: enter(() => {}),
      running: enter((id) => recordings.claim(id)),
      completed: enter(completed),
      failed: enter((id) => recordings.fail(id, { reason: "no_speech" })),
      held: enter((id) => {
        completed(id);
        recordings.setHold(id, true);
      }),
    };
    now += 10 * day;
    return { ...ids, fresh: enter(completed) };
  };

  const apply = (audioDays: number, completedDays: number) =>
    applyRetention({ recordings, dataDirectory: directory }, { audioDays, completedDays }, now);
  const hasAudio = (id: string) => existsSync(directory.localAudio.pathOf(id));
  const hasRecord = (id: string) => recordings.get(id) !== null;
  const remaining = (ids: Record<string, string>, isThere: (id: string) => boolean) =>
    Object.entries(ids)
      .filter(([, id]) => isThere(id))
      .map(([name]) => name);

  test("removes audio after its period and keeps text by default", async () => {
    const ids = enterAll();
    await apply(7, 0);
    expect(remaining(ids, hasAudio)).toEqual(["waiting", "running", "held", "fresh"]);
    expect(remaining(ids, hasRecord)).toEqual(Object.keys(ids));
  });

  test("removes text after the period that the operator set, but no recording that is open or under a hold", async () => {
    const ids = enterAll();
    await apply(7, 9);
    expect(remaining(ids, hasRecord)).toEqual(["waiting", "running", "held", "fresh"]);
    expect(remaining(ids, hasAudio)).toEqual(["waiting", "running", "held", "fresh"]);
  });

  test("keeps the audio of a recording that is processed again until that has ended, and not the recording itself", async () => {
    const ids = enterAll();
    const choice = { speechModel: "whisper-base", pinnedLanguage: null, author: "o" };
    const rerun = recordings.reruns.create(ids.completed, choice, () => {})?.id ?? "";
    await apply(7, 0);
    expect(hasAudio(ids.completed)).toBe(true);
    recordings.fail(rerun, { reason: "no_speech" });
    await apply(7, 0);
    expect([hasAudio(ids.completed), recordings.reruns.of(ids.completed)?.id]).toEqual([false, rerun]);
    await apply(7, 9);
    expect([recordings.get(ids.completed), recordings.get(rerun), recordings.deletedIds()]).toEqual([null, null, []]);
  });

  test("removes audio of a deleted recording that an interrupted removal left", async () => {
    const ids = enterAll();
    const unknown = newRecordingId(now);
    recordings.delete(ids.fresh);
    const fetched = `${directory.localAudio.pathOf(ids.waiting)}.part`;
    for (const path of [directory.localAudio.pathOf(unknown), fetched]) writeFileSync(path, "audio");
    await apply(100, 0);
    expect(remaining({ ...ids, unknown }, hasAudio)).toEqual(["waiting", "running", "completed", "failed", "held"]);
    expect(existsSync(directory.filesOf(ids.fresh).work)).toBe(false);
    expect(existsSync(fetched)).toBe(true);
  });

  test("removes a recording exactly after its period, across restarts and after a hold", async () => {
    const open = () => new Recordings(openDatabase(directory.databasePath), () => now);
    const store = openDatabase(directory.databasePath);
    const { id: owner } = createAccount(store, "acme", { actor: "operator", now });
    store.$client.close();
    const enter = (held: boolean) => {
      const first = open();
      const { id } = first.create(newRecording(newRecordingId(now), owner));
      first.claim(id);
      first.complete(id, []);
      first.setHold(id, held);
      writeFileSync(directory.localAudio.pathOf(id), "audio");
      return id;
    };
    const [free, held] = [enter(false), enter(true)];
    const endedAt = now;
    const stay = async (at: number, audioDays: number, completedDays: number) => {
      now = at;
      // A server that starts at that time does the same.
      const restarted = open();
      await applyRetention({ recordings: restarted, dataDirectory: directory }, { audioDays, completedDays }, now);
      return [free, held].map((id) => [hasAudio(id), restarted.get(id) !== null]);
    };
    const all = [true, true];
    expect(await stay(endedAt + 7 * day - 1, 7, 30)).toEqual([all, all]);
    expect(await stay(endedAt + 7 * day, 7, 30)).toEqual([[false, true], all]);
    expect(await stay(endedAt + 30 * day, 7, 30)).toEqual([[false, true], all]);
    expect(await stay(endedAt + 30 * day + 1, 7, 30)).toEqual([[false, false], all]);
    open().setHold(held, false);
    expect(await stay(endedAt + 31 * day, 7, 30)).toEqual([
      [false, false],
      [false, false],
    ]);
  });

  test("counts from the end of a recording, whatever changes it later", async () => {
    const ids = enterAll();
    // A person may correct a transcript, which changes the time of its last update.
    store.update(tables.recordings).set({ updatedAt: now }).where(eq(tables.recordings.id, ids.completed)).run();
    await apply(7, 9);
    expect(remaining(ids, hasRecord)).toEqual(["waiting", "running", "held", "fresh"]);
  });
});
