import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { FolderRegister } from "../../src/standby/folder-register.ts";
import { FenceError } from "../../src/standby/index.ts";
import { leaseOf } from "./leases.ts";

describe("a folder with a lease", () => {
  test("takes each write of the one of many machines that was the first", async () => {
    using folder = temporaryDirectory();
    const machines = Array.from({ length: 8 }, () => new FolderRegister(folder.path, null));
    const ids = await Promise.all(machines.map((machine) => machine.identify()));
    expect(new Set(ids).size).toBe(1);
    for (let round = 1; round <= 20; round++) {
      const attempts = machines.map(async (machine, index) => {
        const { version } = await machine.read();
        return await machine.replace(version, leaseOf(index + 1));
      });
      const written = (await Promise.all(attempts)).filter((version) => version !== null);
      // Some have read after the first write of the round.
      expect(new Set(written).size).toBe(written.length);
      expect(written.length).toBeGreaterThan(0);
    }
    expect(readdirSync(folder.path).length).toBeLessThan(10);
  });

  test("can be read by the user of the other machine, whatever the umask", async () => {
    using folder = temporaryDirectory();
    const before = process.umask(0o077);
    try {
      const register = new FolderRegister(folder.path, null);
      await register.replace((await register.read()).version, leaseOf(1));
    } finally {
      process.umask(before);
    }
    const modes = readdirSync(folder.path).map((name) => [name, statSync(join(folder.path, name)).mode & 0o777]);
    expect(modes.toSorted()).toEqual([
      ["fence-id", 0o644],
      ["lease-000000001.json", 0o644],
    ]);
  });

  test("refuses the write of a machine that was stopped since its read", async () => {
    using folder = temporaryDirectory();
    const [stopped, other] = [new FolderRegister(folder.path, null), new FolderRegister(folder.path, null)];
    const first = await stopped.replace((await stopped.read()).version, leaseOf(1));
    // The numbers after the one that it has read are removed meanwhile.
    for (let count = 0; count < 12; count++) await other.replace((await other.read()).version, leaseOf(2));
    const before = await other.read();
    expect(await stopped.replace(first ?? "", leaseOf(1))).toBeNull();
    expect(await stopped.read()).toEqual(before);
    expect(before.record).toEqual(leaseOf(2));
  });

  test("is not an empty folder in its place, such as the mount point of storage that is not mounted", async () => {
    using folder = temporaryDirectory();
    const path = join(folder.path, "fence");
    mkdirSync(path);
    const id = await new FolderRegister(path, null).identify();
    const register = new FolderRegister(path, id);
    await register.replace((await register.read()).version, leaseOf(1));
    renameSync(path, `${path}-away`);
    await expect(register.read()).rejects.toThrow("is the shared storage mounted?");
    mkdirSync(path);
    await expect(register.read()).rejects.toThrow("is not the folder that fenced this server before");
    rmSync(path, { recursive: true });
    renameSync(`${path}-away`, path);
    expect((await register.read()).record).toEqual(leaseOf(1));
  });

  test.each([
    ["no JSON", "x"],
    ["another object", "{}"],
    ["a host with a line break", JSON.stringify({ ...leaseOf(1), host: "a\nb" })],
    ["an epoch that is no number", JSON.stringify({ ...leaseOf(1), epoch: "2" })],
    ["a lease without end", JSON.stringify({ ...leaseOf(1), milliseconds: 1e12 })],
    ["more than a lease can have", " ".repeat(70_000)],
  ])("is refused if another program has written %s", async (_what, text) => {
    using folder = temporaryDirectory();
    const register = new FolderRegister(folder.path, null);
    await register.identify();
    writeFileSync(join(folder.path, "lease-000000005.json"), text);
    await expect(register.read()).rejects.toThrow(FenceError);
  });
});
