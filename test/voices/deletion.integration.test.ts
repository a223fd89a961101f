import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { requireAccount } from "../../src/accounts/index.ts";
import { BackupFile, restoreBackup } from "../../src/backup/index.ts";
import { openDatabase } from "../../src/database/index.ts";
import { Library, type Operator, removeAccount } from "../../src/library/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import type { Transcript } from "../../src/transcripts/index.ts";
import { Usage } from "../../src/usage/index.ts";
import { removeOptedOut, switchVoices } from "../../src/voices/index.ts";
import { by, VoiceAccount, voiceOf } from "../support/voices.ts";

const operator: Operator = { kind: "operator", actor: "operator" };
/** Length of the parts of embeddings that are searched in files: deletion must not leave a part either. */
const PART_BYTES = 24;

/** An account with voices in a data directory. */
class StoredAccount implements Disposable {
  readonly directory: DataDirectory;
  readonly account: VoiceAccount;
  readonly transcripts: readonly Transcript[];
  readonly #parent: ReturnType<typeof temporaryDirectory>;

  private constructor(parent: ReturnType<typeof temporaryDirectory>, directory: DataDirectory, account: VoiceAccount) {
    this.#parent = parent;
    this.directory = directory;
    this.account = account;
    this.transcripts = Array.from({ length: 30 }, (_, index) =>
      account.record([voiceOf(1, index + 1), voiceOf(100 + index)]),
    );
    const [first, second] = this.transcripts;
    if (first !== undefined) account.remember(first, 0, "Anna");
    if (second !== undefined) account.remember(second, 0, "Anna");
  }

  static async create(): Promise<StoredAccount> {
    const parent = temporaryDirectory();
    const directory = new DataDirectory(parent.path);
    return new StoredAccount(
      parent,
      directory,
      await VoiceAccount.create({ store: openDatabase(directory.databasePath) }),
    );
  }

  /** Returns whether the database's files contain a part of an embedding. */
  holds(...embeddings: readonly Float32Array[]): boolean {
    const { databasePath } = this.directory;
    const files = [databasePath, `${databasePath}-wal`].filter(existsSync).map((path) => readFileSync(path));
    return embeddings.some((embedding) => {
      const bytes = Buffer.from(embedding.buffer);
      for (let at = 0; at + PART_BYTES <= bytes.length; at += PART_BYTES) {
        if (files.some((file) => file.includes(bytes.subarray(at, at + PART_BYTES)))) return true;
      }
      return false;
    });
  }

  get library(): Library {
    const { store, recordings } = this.account;
    return new Library({
      ...{ store, recordings, dataDirectory: this.directory, usage: new Usage(store) },
      now: () => by.now,
    });
  }

  [Symbol.dispose](): void {
    this.account.store.$client.close();
    this.#parent[Symbol.dispose]();
  }
}

describe("the database's files contain no part of an embedding", () => {
  test("of a voice that was deleted, except those of its recordings' speakers", async () => {
    using stored = await StoredAccount.create();
    const { account, transcripts, library } = stored;
    // Only the example is left of the first recording.
    await library.remove(operator, transcripts[0]?.recording.id ?? "");
    expect(stored.holds(voiceOf(1, 1))).toBe(true);
    const [voice] = account.voices.list(account.id);
    await account.voices.delete(voice?.id ?? "", by);
    expect(stored.holds(voiceOf(1, 1))).toBe(false);
    expect(stored.holds(voiceOf(1, 2))).toBe(true);
  });

  test("of an example that another one replaced", async () => {
    using stored = await StoredAccount.create();
    const { account, transcripts, library } = stored;
    for (const transcript of transcripts.slice(2, 5)) account.remember(transcript, 0, "Anna");
    await library.remove(operator, transcripts[4]?.recording.id ?? "");
    expect(stored.holds(voiceOf(1, 5))).toBe(true);
    for (const transcript of transcripts.slice(5, 6)) account.remember(transcript, 0, "Anna");
    expect(stored.holds(voiceOf(1, 5))).toBe(false);
  });

  test("of a recording that was deleted", async () => {
    using stored = await StoredAccount.create();
    const last = stored.transcripts.at(-1);
    expect(stored.holds(voiceOf(129))).toBe(true);
    await stored.library.remove(operator, last?.recording.id ?? "");
    expect(stored.holds(voiceOf(1, 30), voiceOf(129))).toBe(false);
    expect(stored.holds(voiceOf(128))).toBe(true);
  });

  const all = Array.from({ length: 30 }, (_, index) => [voiceOf(1, index + 1), voiceOf(100 + index)]).flat();

  test("of an account that stopped remembering voices, also if the server was killed in between", async () => {
    using stored = await StoredAccount.create();
    const { store } = stored.account;
    await switchVoices(store, requireAccount(store, "acme"), by, false);
    expect(stored.holds(...all)).toBe(false);
    await switchVoices(store, requireAccount(store, "acme"), by, true);
    stored.account.record([voiceOf(1, 2), voiceOf(100)]);
    // The state that a process leaves if it is killed after its first transaction.
    store.$client.run("UPDATE accounts SET voices = 0");
    await removeOptedOut(store);
    expect(stored.holds(...all)).toBe(false);
    expect(stored.account.rows("speaker_voices")).toBe(0);
  });

  test("of an account that was deleted", async () => {
    using stored = await StoredAccount.create();
    const { store, recordings } = stored.account;
    const services = { store, recordings, dataDirectory: stored.directory, now: () => by.now };
    await removeAccount(services, operator, requireAccount(store, "acme"));
    store.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    expect(stored.holds(...all)).toBe(false);
  });
});

test("the clean-up of voices leaves those of accounts that remember them", async () => {
  using stored = await StoredAccount.create();
  await removeOptedOut(stored.account.store);
  expect(stored.account.rows("speaker_voices")).toBe(60);
});

test("a restored backup has the voices, their examples and those of speakers", async () => {
  using stored = await StoredAccount.create();
  using parent = temporaryDirectory();
  const { store } = stored.account;
  const path = join(parent.path, "backup.db");
  store.$client.run("VACUUM INTO ?", [path]);
  const directory = new DataDirectory(join(parent.path, "data"));
  using backup = new BackupFile(path);
  restoreBackup(directory, backup, by.now);
  const restored = openDatabase(directory.databasePath);
  for (const table of ["speaker_voices", "voices", "voice_examples"]) {
    const [before, after] = [store, restored].map(({ $client }) => $client.query(`SELECT * FROM ${table}`).all());
    expect(before?.length).toBeGreaterThan(0);
    expect(after).toEqual(before ?? []);
  }
  restored.$client.close();
});
