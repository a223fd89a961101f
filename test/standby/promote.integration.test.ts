import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../harness/processes.ts";
import { environmentWith } from "../../harness/server.ts";
import { canMount, SmallDisk } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { openDatabase } from "../../src/database/index.ts";
import { readStandbyMarker } from "../../src/storage/index.ts";
import { leaseOf, promoteByFolder } from "./leases.ts";
import { StandbyDirectory } from "./standby-directory.ts";

setDefaultTimeout(60_000);

/** The steps after which a promotion is killed: those that it reports, its write of the lease, and that of the epoch. */
const STEPS = 8;

describe("a promotion", () => {
  test.concurrent.each([...Array(STEPS + 1).keys()])(
    "that is killed before step %i is completed by its repetition",
    async (step) => {
      using standby = new StandbyDirectory();
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
    using standby = new StandbyDirectory();
    const refused = await standby.cli("promote");
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("repeat with --without-fence")]);
    expect(readStandbyMarker(standby.directory)).not.toBeNull();
    const promoted = await standby.cli("promote", "--without-fence", "--json");
    expect(JSON.parse(promoted.stdout)).toMatchObject({ promoted: true, epoch: 2, from: "tls://a:1" });
    const again = await standby.cli("promote", "--without-fence", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ promoted: false });
    expect([standby.epoch, (await standby.cli("accounts", "list")).exitCode]).toEqual([2, 0]);
  });

  test.concurrent("is refused if the other server uses no fence or another one, and changes nothing", async () => {
    for (const isFenced of [false, true]) {
      using standby = new StandbyDirectory({ isFenced });
      const { directory, fence, register } = standby;
      // The fence was changed on the other machine alone.
      if (isFenced) writeFileSync(join(fence, "fence-id"), "another-fence\n");
      const before = readFileSync(directory.databasePath);
      const promoted = promoteByFolder(directory.root, fence);
      await expect(promoted).rejects.toThrow("is not what fenced the other server");
      expect(readFileSync(directory.databasePath).equals(before)).toBe(true);
      expect(readStandbyMarker(directory)?.promoting).toBeUndefined();
      expect((await register.read()).record).toBeNull();
    }
  });

  test.concurrent("is refused if a newer version has written the database, and changes nothing", async () => {
    using standby = new StandbyDirectory();
    const { directory, register } = standby;
    const store = openDatabase(directory.databasePath);
    store.$client.run("INSERT INTO migrations SELECT max(position) + 1, '9999-later', '' FROM migrations");
    store.$client.run("INSERT INTO versions (version, since) VALUES ('99.0.0', 0)");
    store.$client.close();
    const { exitCode, stderr } = await standby.cli("promote", "--without-fence");
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("was last used by transcribe 99.0.0")]);
    expect(stderr).toContain("install that version here, and repeat transcribe promote");
    expect(readStandbyMarker(directory)?.promoting).toBeUndefined();
    expect((await register.read()).record).toBeNull();
  });

  test.concurrent("that runs twice at the same time takes over once", async () => {
    using standby = new StandbyDirectory();
    const { directory, fence, register } = standby;
    await register.replace((await register.read()).version, leaseOf(1));
    const both = await Promise.all([1, 2].map(() => promoteByFolder(directory.root, fence)));
    expect(both.filter((promotion) => promotion !== null)).toMatchObject([{ epoch: 2 }]);
    expect([standby.epoch, (await register.read()).record?.epoch]).toEqual([2, 2]);
  });

  test.concurrent.if(canMount)(
    "is refused on a full disk, changes nothing, and succeeds when there is space",
    async () => {
      using standby = new StandbyDirectory();
      const { root } = standby.directory;
      using folder = temporaryDirectory();
      cpSync(root, folder.path, { recursive: true });
      rmSync(root, { recursive: true });
      mkdirSync(root);
      using disk = new SmallDisk(root, "size=8m");
      cpSync(folder.path, root, { recursive: true });
      disk.fill();
      const { exitCode, stderr } = await standby.cli("promote", "--without-fence");
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining("free some disk space or mend the disk")]);
      expect(readStandbyMarker(standby.directory)?.promoting).toBeUndefined();
      disk.empty();
      const promoted = await standby.cli("promote", "--without-fence", "--json");
      expect(JSON.parse(promoted.stdout)).toMatchObject({ promoted: true, epoch: 2, checked: true });
    },
  );

  test.concurrent("is refused before the first copy is complete, and without a database", async () => {
    using standby = new StandbyDirectory({ complete: false });
    const incomplete = await standby.cli("promote", "--without-fence", "--force");
    expect([incomplete.exitCode, incomplete.stderr]).toEqual([1, expect.stringContaining("is not complete")]);
    renameSync(standby.directory.databasePath, `${standby.directory.databasePath}.away`);
    const missing = await standby.cli("promote", "--without-fence");
    expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringContaining("there is no database in")]);
  });

  test.concurrent("is refused for a damaged database", async () => {
    using standby = new StandbyDirectory();
    standby.damage("accounts");
    const damaged = await standby.cli("promote", "--without-fence");
    expect([damaged.exitCode, damaged.stderr]).toEqual([1, expect.stringMatching(/is damaged/)]);
    expect(readStandbyMarker(standby.directory)).not.toBeNull();
  });
});

describe("the data directory of a standby", () => {
  test.concurrent.each<[string, (standby: StandbyDirectory) => string[]]>([
    ["serve", () => ["serve", "--port", "0"]],
    ["accounts create", () => ["accounts", "create", "other"]],
    ["restore", ({ backup }) => ["restore", "--replace", backup]],
  ])("is not used by transcribe %s", async (_name, wordsOf) => {
    using standby = new StandbyDirectory();
    copyFileSync(standby.directory.databasePath, standby.backup);
    const { exitCode, stderr } = await standby.cli(...wordsOf(standby));
    expect([exitCode, stderr]).toEqual([6, expect.stringContaining("of a standby of tls://a:1;")]);
    expect(stderr).toContain("transcribe promote");
  });
});
