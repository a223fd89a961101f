import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { BackupFile, restoreBackup } from "../../../src/backup/index.ts";
import { createLink, setPassword } from "../../../src/console/index.ts";
import { openDatabase, type Store } from "../../../src/database/index.ts";
import { DataDirectory } from "../../../src/storage/index.ts";
import { type Correction, Transcript } from "../../../src/transcripts/index.ts";
import { ConsoleServer } from "../../support/console.ts";

setDefaultTimeout(60_000);

/** Backs up a server's database, and returns the one that is restored in another directory. */
function restoredIn(path: string, { api }: ConsoleServer): Store {
  const backup = join(api.dataDirectory.root, "backup.db");
  api.store.$client.run("VACUUM INTO ?", [backup]);
  const directory = new DataDirectory(join(path, "data"));
  using file = new BackupFile(backup);
  restoreBackup(directory, file, Date.now());
  return openDatabase(directory.databasePath);
}

test("a restored backup contains no sessions and no sign-in links, but the search index and the password", async () => {
  using server = new ConsoleServer();
  const { store } = server.api;
  await server.enterSaid("first", ["Hello."]);
  await setPassword(store, "correct horse battery", server.api.operator());
  await server.operator();
  createLink(store, server.api.operator());
  using elsewhere = temporaryDirectory();
  const restored = restoredIn(elsewhere.path, server);
  const count = (table: string) =>
    restored.$client.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows;
  expect(["console_sessions", "console_links", "console_password", "searchable_texts"].map(count)).toEqual([
    0, 0, 1, 2,
  ]);
  restored.$client.close();
});

test("a restored backup contains the revisions, of which each can be restored", async () => {
  using server = new ConsoleServer();
  const { store, recordings } = server.api;
  const id = await server.enterSaid("first", ["We met in June.", "Yes, we did."]);
  const transcriptIn = (of: Store) => {
    const recording = recordings.get(id);
    if (recording === null) throw new Error("the recording is missing");
    return new Transcript(of, recording);
  };
  const by = (sequence: number) => ({ author: "anna", editor: "page-one", sequence, seen: sequence - 1, now: 1000 });
  const all: Correction[] = [
    { action: "split", segment: 0, character: 7 },
    { action: "text", segment: 1, text: "No, we did not." },
    { action: "assign", segments: [0], speaker: null },
  ];
  all.forEach((correction, index) => void transcriptIn(store).correct(correction, by(index + 1)));
  using elsewhere = temporaryDirectory();
  const restored = restoredIn(elsewhere.path, server);
  const texts = () => [...transcriptIn(restored).allSegments()].map(({ speaker, text }) => `${speaker} ${text}`);
  expect(texts()).toEqual(["0 We met", "1 in June.", "2 No, we did not."]);
  transcriptIn(restored).correct({ action: "restore", revision: 0 }, by(4));
  expect(texts()).toEqual(["0 We met in June.", "1 Yes, we did."]);
  restored.$client.close();
});
