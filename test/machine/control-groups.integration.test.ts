import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
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

function removeGroups(): void {
  for (const { kind, mountPoint } of readMounts((path) => readFileSync(path, "utf8"))) {
    if (!kind.startsWith("cgroup")) continue;
    try {
      rmdirSync(join(mountPoint, `transcribe-test-${process.pid}`));
    } catch {
      // It was not created.
    }
  }
}

/** Returns the groups of the test; null if this machine allows none, which is printed. */
function groupsOrNull(): string[] | null {
  try {
    return createGroups();
  } catch (error) {
    console.warn(`skipped: limits of real control groups (${error})`);
    removeGroups();
    return null;
  }
}

const groups = process.platform === "linux" ? groupsOrNull() : null;

test.skipIf(groups === null)("a program in a limited group reads its limits and the kernel's kills", async () => {
  try {
    const script = ['for group; do echo $$ > "$group/cgroup.procs"; done', 'exec "$BUN" "$PROGRAM"'].join("\n");
    const child = Bun.spawn(["sh", "-euc", script, "sh", ...(groups ?? [])], {
      env: { ...process.env, BUN: process.execPath, PROGRAM: join(import.meta.dir, "print-limits.ts") },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const answer = JSON.parse(await new Response(child.stdout).text());
    expect(answer).toMatchObject({
      ...{ totalBytes: LIMIT_BYTES, limitBytes: LIMIT_BYTES, quota: 1.5, kills: 0 },
      ...{ signal: "SIGKILL", killsAfter: 1 },
    });
    expect(answer.processors).toBeLessThanOrEqual(2);
    expect(answer.availableBytes).toBeLessThan(LIMIT_BYTES);
  } finally {
    removeGroups();
  }
});
