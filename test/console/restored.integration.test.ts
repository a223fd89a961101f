import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createLink, setPassword } from "../../src/console/index.ts";
import { BackupFile, DataDirectory, openDatabase, restoreBackup } from "../../src/storage/index.ts";
import { ConsoleServer } from "./support.ts";

setDefaultTimeout(60_000);

test("a restored backup contains no sessions and no sign-in links, but the search index and the password", async () => {
  using server = new ConsoleServer();
  const { store, dataDirectory } = server.api;
  await server.enterSaid("first", ["Hello."]);
  await setPassword(store, "correct horse battery", server.api.operator());
  await server.operator();
  createLink(store, server.api.operator());
  const backup = join(dataDirectory.root, "backup.db");
  store.$client.run("VACUUM INTO ?", [backup]);
  using elsewhere = temporaryDirectory();
  const directory = new DataDirectory(join(elsewhere.path, "data"));
  using file = new BackupFile(backup);
  restoreBackup(directory, file, Date.now());
  const restored = openDatabase(directory.databasePath);
  const count = (table: string) =>
    restored.$client.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows;
  expect(["console_sessions", "console_links", "console_password", "searchable_texts"].map(count)).toEqual([
    0, 0, 1, 2,
  ]);
  restored.$client.close();
});
