import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { runCli } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { openDatabase } from "../../src/database/index.ts";
import { FolderRegister } from "../../src/standby/folder-register.ts";
import { readServing, storeServing } from "../../src/standby/index.ts";
import { DataDirectory, writeStandbyMarker } from "../../src/storage/index.ts";

/** A standby's data directory, and the folder of a fence. */
export class StandbyDirectory implements Disposable {
  readonly #folder = temporaryDirectory();
  readonly directory: DataDirectory;
  readonly fence = join(this.#folder.path, "fence");
  readonly backup = join(this.#folder.path, "backup.db");

  /** @param root path of the data directory; by default a new one */
  constructor({ complete = true, isFenced = true, root = join(this.#folder.path, "data") } = {}) {
    mkdirSync(this.fence);
    this.directory = new DataDirectory(root);
    // As the database of a server that uses the fence.
    writeFileSync(join(this.fence, "fence-id"), "the-fence\n");
    const store = openDatabase(this.directory.databasePath);
    createAccount(store, "acme", { actor: "test", now: Date.now() });
    storeServing(store, { fence: isFenced ? "the-fence" : null });
    store.$client.close();
    writeStandbyMarker(this.directory, { from: "tls://a:1", since: 0, appliedAt: 0, complete });
  }

  get register(): FolderRegister {
    return new FolderRegister(this.fence, null);
  }

  get epoch(): number {
    const store = openDatabase(this.directory.databasePath);
    try {
      return readServing(store).epoch;
    } finally {
      store.$client.close();
    }
  }

  cli(...args: readonly string[]) {
    return runCli([...args, "--data-dir", this.directory.root], { TRANSCRIBE_STANDBY_LEASE_SECONDS: "2" });
  }

  /** Overwrites the first page of a table, which must not be open. */
  damage(table: string): void {
    const { databasePath } = this.directory;
    const store = openDatabase(databasePath);
    const page = store.$client.query<{ rootpage: number }, [string]>(
      "SELECT rootpage FROM sqlite_schema WHERE name = ?",
    );
    const { rootpage = 0 } = page.get(table) ?? {};
    store.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    store.$client.close();
    const file = openSync(databasePath, "r+");
    writeSync(file, new Uint8Array(4096).fill(255), 0, 4096, (rootpage - 1) * 4096);
    closeSync(file);
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}
