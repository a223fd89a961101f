import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readMounts } from "../../src/machine/index.ts";

const LIMIT_BYTES = 300 * 1024 ** 2;
const limits = {
  memory: { 1: { "memory.limit_in_bytes": LIMIT_BYTES }, 2: { "memory.max": LIMIT_BYTES } },
  cpu: { 1: { "cpu.cfs_quota_us": 150_000, "cpu.cfs_period_us": 100_000 }, 2: { "cpu.max": "150000 100000" } },
} as const;

/** Creates control groups with both limits, one for each controller of version 1. @throws if this machine allows none */
function createGroups(): string[] {
  const mounts = readMounts((path) => readFileSync(path, "utf8"));
  const groups = new Map<string, Readonly<Record<string, string | number>>>();
  for (const controller of ["memory", "cpu"] as const) {
    const mount =
      mounts.find(({ kind, options }) => kind === "cgroup" && options.includes(controller)) ??
      mounts.find(({ kind }) => kind === "cgroup2");
    if (mount === undefined) throw new Error("no control groups are mounted");
    const directory = join(mount.mountPoint, `transcribe-test-${process.pid}`);
    groups.set(directory, { ...groups.get(directory), ...limits[controller][mount.kind === "cgroup" ? 1 : 2] });
  }
  for (const [directory, files] of groups) {
    mkdirSync(directory);
    for (const [name, value] of Object.entries(files)) writeFileSync(join(directory, name), String(value));
  }
  return [...groups.keys()];
}

/** Removes the groups. A group whose last process has just exited may be busy for a moment. */
async function removeGroups(): Promise<void> {
  for (const { kind, mountPoint } of readMounts((path) => readFileSync(path, "utf8"))) {
    const directory = join(mountPoint, `transcribe-test-${process.pid}`);
    if (!kind.startsWith("cgroup")) continue;
    for (let attempts = 0; existsSync(directory) && attempts < 100; attempts++) {
      try {
        rmdirSync(directory);
      } catch {
        await Bun.sleep(20);
      }
    }
  }
}

/** Returns whether this machine allows limited groups; prints why not. */
async function canLimit(): Promise<boolean> {
  try {
    createGroups();
    return true;
  } catch (error) {
    console.warn(`skipped: limits of real control groups (${error})`);
    return false;
  } finally {
    await removeGroups();
  }
}

test.skipIf(process.platform !== "linux" || !(await canLimit()))(
  "a program in a limited group reads its limits and the kernel's kills",
  async () => {
    try {
      const script = ['for group; do echo $$ > "$group/cgroup.procs"; done', 'exec "$BUN" "$PROGRAM"'].join("\n");
      const child = Bun.spawn(["sh", "-euc", script, "sh", ...createGroups()], {
        env: { ...process.env, BUN: process.execPath, PROGRAM: join(import.meta.dir, "print-limits.ts") },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const answer = JSON.parse(await new Response(child.stdout).text());
      // A group with a process cannot be removed.
      await child.exited;
      expect(answer).toMatchObject({
        ...{ totalBytes: LIMIT_BYTES, limitBytes: LIMIT_BYTES, quota: 1.5, kills: 0 },
        ...{ signal: "SIGKILL", killsAfter: 1 },
      });
      expect(answer.processors).toBeLessThanOrEqual(2);
      expect(answer.availableBytes).toBeLessThan(LIMIT_BYTES);
    } finally {
      await removeGroups();
    }
  },
);
