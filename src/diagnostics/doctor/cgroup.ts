import type { Machine } from "./machine.ts";

/** Resource limits of a container or a service; null means no limit. */
export interface CgroupLimits {
  readonly processors: number | null;
  readonly memoryBytes: number | null;
}

/** Values from here on mean "no limit": version 1 writes no limit as the largest number of whole pages. */
const unlimitedMemory = 2 ** 62;

/** Returns the strictest limits of the control groups of this process, for versions 1 and 2. */
export function cgroupLimits(machine: Machine): CgroupLimits {
  const groups = (machine.read("/proc/self/cgroup") ?? "").split("\n").flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    return controllers === undefined || path === undefined ? [] : [{ controllers: controllers.split(","), path }];
  });
  const pathsOf = (controller: string) =>
    groups.filter(({ controllers }) => controllers.includes(controller)).flatMap(({ path }) => ancestors(path));
  const read = (directory: string, path: string, file: string) =>
    machine.read(`/sys/fs/cgroup${directory}${path}/${file}`)?.trim() ?? "";
  const processors = [
    ...pathsOf("").flatMap((path) => quota(...split(read("", path, "cpu.max")))),
    ...pathsOf("cpu").flatMap((path) =>
      ["/cpu", "/cpu,cpuacct"].flatMap((directory) =>
        quota(read(directory, path, "cpu.cfs_quota_us"), read(directory, path, "cpu.cfs_period_us")),
      ),
    ),
  ];
  const memory = [
    ...pathsOf("").map((path) => read("", path, "memory.max")),
    ...pathsOf("memory").map((path) => read("/memory", path, "memory.limit_in_bytes")),
  ].flatMap((text) => (/^\d+$/.test(text) && Number(text) < unlimitedMemory ? [Number(text)] : []));
  return { processors: least(processors), memoryBytes: least(memory) };
}

/**
 * Returns a path and its ancestors: `/a/b` → `/a/b`, `/a`, and the root as an empty string. Each of them may set a
 * limit.
 */
function ancestors(path: string): string[] {
  const names = path.split("/").filter((name) => name !== "");
  return Array.from({ length: names.length + 1 }, (_, left) => {
    const kept = names.slice(0, names.length - left);
    return kept.map((name) => `/${name}`).join("");
  });
}

function split(text: string): [string, string] {
  const [first = "", second = ""] = text.split(" ");
  return [first, second];
}

function quota(micros: string, period: string): number[] {
  const processors = Number(micros) / Number(period);
  return /^\d+$/.test(micros) && processors > 0 && Number.isFinite(processors) ? [processors] : [];
}

function least(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : Math.min(...numbers);
}
