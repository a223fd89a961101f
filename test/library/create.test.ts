import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { openDatabase, type Store } from "../../src/database/index.ts";
import { applyRetention, Library } from "../../src/library/index.ts";
import { Recordings } from "../../src/recordings/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Usage } from "../../src/usage/index.ts";

describe("a recording that is created", () => {
  let parent: ReturnType<typeof temporaryDirectory>;
  let directory: DataDirectory;
  let store: Store;
  let recordings: Recordings;
  let library: Library;
  let accountId: string;
  /** Resolves when the store may take the next file. */
  let mayStore: Promise<void>;

  beforeEach(() => {
    parent = temporaryDirectory();
    directory = new DataDirectory(join(parent.path, "data"));
    store = openDatabase(":memory:");
    recordings = new Recordings(store, Date.now);
    library = new Library({ store, recordings, dataDirectory: directory, usage: new Usage(store), now: Date.now });
    accountId = createAccount(store, "acme", { actor: "operator", now: Date.now() }).id;
    mayStore = Promise.resolve();
    const put = directory.audio.put.bind(directory.audio);
    // A slow disk: the file has its name before the call ends.
    directory.audio.put = async (id, path) => {
      await put(id, path);
      await mayStore;
    };
  });
  afterEach(() => parent[Symbol.dispose]());

  const create = (name: string, check = () => {}) => {
    const audioPath = join(parent.path, name);
    writeFileSync(audioPath, name);
    const { id: _, ...values } = newRecording("", accountId, { sourceName: name });
    return library.create({ values, audioPath, check, also: () => {}, onCreated: () => {} });
  };
  const retention = () =>
    applyRetention(
      { store, recordings, dataDirectory: directory, settled: () => library.settled() },
      { audioDays: 7, completedDays: 0 },
      Date.now(),
    );

  test("keeps its audio, although retention runs while it is stored", async () => {
    const stored = Promise.withResolvers<void>();
    mayStore = stored.promise;
    const created = create("slow");
    while ((await directory.audio.list()).length === 0) await Bun.sleep(1);
    const retained = retention();
    await Bun.sleep(5);
    stored.resolve();
    const { id } = await created;
    await retained;
    expect(await directory.audio.list()).toEqual([id]);
  });

  test("has an id above those of all that were created before, however many are sent at once", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `recording ${index}`);
    const created = await Promise.all(names.map((name) => create(name)));
    const ids = created.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
    expect(recordings.list({ accountId }, 100).map(({ sourceName }) => sourceName)).toEqual(names.toReversed());
  });

  test("leaves nothing if it is refused at the last moment, and the next one is created", async () => {
    const refused = create("refused", () => {
      throw new Error("the account has no place any more");
    });
    const next = create("next");
    await expect(refused).rejects.toThrow("no place");
    const { id } = await next;
    expect(await directory.audio.list()).toEqual([id]);
    expect(recordings.list({ accountId }, 10).map((recording) => recording.id)).toEqual([id]);
  });

  test("leaves nothing if its audio can't be stored", async () => {
    const values = newRecording("", accountId);
    const missing = { audioPath: join(parent.path, "missing"), check: () => {}, also: () => {}, onCreated: () => {} };
    await expect(library.create({ values, ...missing })).rejects.toThrow("ENOENT");
    expect([await directory.audio.list(), recordings.list({ accountId }, 10)]).toEqual([[], []]);
  });
});
