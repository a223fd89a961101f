import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { closeSync, copyFileSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../harness/processes.ts";
import { environmentWith, runCli } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { openDatabase } from "../../src/database/index.ts";
import { FolderRegister } from "../../src/standby/folder-register.ts";
import { readServing, storeServing } from "../../src/standby/index.ts";
import { DataDirectory, readStandbyMarker, writeStandbyMarker } from "../../src/storage/index.ts";
import { leaseOf, promoteByFolder } from "./leases.ts";

setDefaultTimeout(60_000);

/** A standby's data directory, and the folder of a fence. */
class Standby implements Disposable {
  readonly #folder = temporaryDirectory();
  readonly directory: DataDirectory;
  readonly fence = join(this.#folder.path, "fence");
  readonly backup = join(this.#folder.path, "backup.db");

  constructor({ complete = true, isFenced = true } = {}) {
    mkdirSync(this.fence);
    this.directory = new DataDirectory(join(this.#folder.path, "data"));
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

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

/** The steps after which a promotion is killed: those that it reports, its write of the lease, and that of the epoch. */
const STEPS = 8;

describe("a promotion", () => {
  test.concurrent.each([...Array(STEPS + 1).keys()])(
    "that is killed before step %i is completed by its repetition",
    async (step) => {
      using standby = new Standby();
      const { directory, fence, register } = standby;
      await register.replace((await register.read()).version, leaseOf(1));
      const command = [
        process.execPath,
        join(import.meta.dir, "promote-and-die.ts"),
        directory.root,
        fence,
        String(step),
      ];
      const { exitCode } = await run(command, { cwd: directory.root, env: environmentWith({}) });
      expect([step, exitCode]).toEqual([step, step < STEPS ? 137 : 0]);
      const isMarked = readStandbyMarker(directory) !== null;
      expect([step, isMarked]).toEqual([step, step < STEPS - 1]);
      const promoted = { epoch: 2, from: "tls://a:1", appliedAt: 0, isChecked: true };
      expect(await promoteByFolder(directory.root, fence)).toEqual(isMarked ? promoted : null);
      expect(readStandbyMarker(directory)).toBeNull();
      expect(standby.epoch).toBe(2);
      expect((await register.read()).record).toMatchObject({ epoch: 2, state: "held" });
    },
  );

  test.concurrent("needs a fence, or the confirmation that the other server is off", async () => {
    using standby = new Standby();
    const refused = await standby.cli("promote");
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("repeat with --without-fence")]);
    expect(readStandbyMarker(standby.directory)).not.toBeNull();
    const promoted = await standby.cli("promote", "--without-fence", "--json");
    expect(JSON.parse(promoted.stdout)).toMatchObject({ promoted: true, epoch: 2, from: "tls://a:1" });
    const again = await standby.cli("promote", "--without-fence", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ promoted: false });
    expect([standby.epoch, (await standby.cli("accounts", "list")).exitCode]).toEqual([2, 0]);
  });

  test.concurrent("is refused if the other server does not use the fence", async () => {
    using standby = new Standby({ isFenced: false });
    const promoted = promoteByFolder(standby.directory.root, standby.fence);
    await expect(promoted).rejects.toThrow("is not what fenced the other server");
    expect(readStandbyMarker(standby.directory)).not.toBeNull();
  });

  test.concurrent("is refused before the first copy is complete, and without a database", async () => {
    using standby = new Standby({ complete: false });
    const incomplete = await standby.cli("promote", "--without-fence", "--force");
    expect([incomplete.exitCode, incomplete.stderr]).toEqual([1, expect.stringContaining("is not complete")]);
    renameSync(standby.directory.databasePath, `${standby.directory.databasePath}.away`);
    const missing = await standby.cli("promote", "--without-fence");
    expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringContaining("there is no database in")]);
  });

  test.concurrent("is refused for a damaged database", async () => {
    using standby = new Standby();
    const { databasePath } = standby.directory;
    const store = openDatabase(databasePath);
    const page = store.$client.query<{ rootpage: number }, []>(
      "SELECT rootpage FROM sqlite_schema WHERE name = 'accounts'",
    );
    const { rootpage = 0 } = page.get() ?? {};
    store.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    store.$client.close();
    const file = openSync(databasePath, "r+");
    writeSync(file, new Uint8Array(4096).fill(255), 0, 4096, (rootpage - 1) * 4096);
    closeSync(file);
    const damaged = await standby.cli("promote", "--without-fence");
    expect([damaged.exitCode, damaged.stderr]).toEqual([1, expect.stringMatching(/is damaged/)]);
    expect(readStandbyMarker(standby.directory)).not.toBeNull();
  });
});

describe("the data directory of a standby", () => {
  test.concurrent.each<[string, (standby: Standby) => string[]]>([
    ["serve", () => ["serve", "--port", "0"]],
    ["accounts create", () => ["accounts", "create", "other"]],
    ["restore", ({ backup }) => ["restore", "--replace", backup]],
  ])("is not used by transcribe %s", async (_name, wordsOf) => {
    using standby = new Standby();
    copyFileSync(standby.directory.databasePath, standby.backup);
    const { exitCode, stderr } = await standby.cli(...wordsOf(standby));
    expect([exitCode, stderr]).toEqual([6, expect.stringContaining("of a standby of tls://a:1;")]);
    expect(stderr).toContain("transcribe promote");
  });
});
