import { readFileSync } from "node:fs";
import { type Mount, type ReadText, readMounts } from "./mounts.ts";

/** Reads the control groups of a process. */
export interface ControlGroupSource {
  readonly read: ReadText;
  /** The process's number, or `self` for this process. */
  readonly process: number | "self";
}

/** The control groups of this process. */
export const ownGroups: ControlGroupSource = {
  read(path) {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return null;
    }
  },
  process: "self",
};

/**
 * Returns the strictest memory limit of a process's control groups in bytes; null if there is none. See cgroup-v2.rst
 * and cgroup-v1/memory.rst of the kernel.
 */
export function memoryLimit(source = ownGroups): number | null {
  return least(memoryGroups(source).map(({ limit }) => limit));
}

/** Returns the memory that the control groups of a process may still allocate in bytes; null if nothing limits them. */
export function memoryBelowLimit(source = ownGroups): number | null {
  const left = memoryGroups(source).map(({ version, number, read, limit }) => {
    const used = number({ 1: "memory.usage_in_bytes", 2: "memory.current" }[version]);
    // The kernel drops cached contents of files before it kills a process.
    const field = { 1: "total_inactive_file", 2: "inactive_file" }[version];
    return Math.max(0, limit - used + (counter(read("memory.stat"), field) || 0));
  });
  return least(left);
}

/**
 * Returns how many processes the kernel killed because memory was short, in a process's own control group. It increments
 * the number before it sends the signal. A group without the memory controller has no counter; its processes then
 * belong to the next parent group that has one.
 */
export function memoryKills(source = ownGroups): number {
  const names = { 1: "memory.oom_control", 2: "memory.events" } as const;
  const counters = groupsOf("memory", source).map(({ version, read }) => counter(read(names[version]), "oom_kill"));
  return counters.find((kills) => !Number.isNaN(kills)) ?? 0;
}

/**
 * Returns the strictest CPU quota of a process's control groups as a number of processors, for example 1.5; null if there
 * is none.
 */
export function cpuQuota(source = ownGroups): number | null {
  const quotas = groupsOf("cpu", source).map(({ version, read, number }) => {
    if (version === 1) return number("cpu.cfs_quota_us") / number("cpu.cfs_period_us");
    const [quota = "", period = ""] = read("cpu.max").split(" ");
    return wholeNumber(quota) / wholeNumber(period);
  });
  return least(quotas.filter((quota) => quota > 0));
}

/** Memory limits from here on mean "no limit": version 1 writes none as the largest number of whole pages. */
const UNLIMITED_BYTES = 2 ** 62;

/** Returns the groups of a process that limit its memory. */
function memoryGroups(source: ControlGroupSource) {
  return groupsOf("memory", source).flatMap((group) => {
    const limit = group.number({ 1: "memory.limit_in_bytes", 2: "memory.max" }[group.version]);
    return limit > 0 && limit < UNLIMITED_BYTES ? [{ ...group, limit }] : [];
  });
}

interface ControlGroup {
  readonly version: 1 | 2;
  /** Returns the text of one of its files; empty if it cannot be read. */
  readonly read: (name: string) => string;
  /** Returns the whole number in one of its files; NaN if there is none, for example for `max`. */
  readonly number: (name: string) => number;
}

/**
 * Returns the control groups of a process with a controller, from its own to the outermost that is mounted. Each parent
 * group limits its children. Both versions may be mounted at once; a controller then belongs to one of them.
 */
function groupsOf(controller: "cpu" | "memory", { read, process }: ControlGroupSource): ControlGroup[] {
  const memberships = [...(read(`/proc/${process}/cgroup`) ?? "").matchAll(/^\d+:([^:\n]*):(\/.*)$/gm)];
  if (memberships.length === 0) return [];
  const mounts = readMounts(read);
  return memberships.flatMap(([, controllers = "", path = ""]) => {
    const version = controllers === "" ? 2 : 1;
    if (version === 1 && !controllers.split(",").includes(controller)) return [];
    const isOfHierarchy = ({ kind, options }: Mount) =>
      version === 2 ? kind === "cgroup2" : kind === "cgroup" && options.includes(controller);
    return directoriesOf(path, mounts.filter(isOfHierarchy)).map((directory): ControlGroup => {
      const textOf = (name: string) => read(`${directory}/${name}`)?.trim() ?? "";
      return { version, read: textOf, number: (name) => wholeNumber(textOf(name)) };
    });
  });
}

/**
 * Returns the directories of a group and its parents. A container often sees only its own group, mounted as the root,
 * and a path that holds outside; then the root of the mount is read.
 */
function directoriesOf(path: string, mounts: readonly Mount[]): string[] {
  const below = ({ root }: Mount) => {
    if (root === "/") return path;
    return path === root || path.startsWith(`${root}/`) ? path.slice(root.length) : null;
  };
  const mount = mounts.find((each) => below(each) !== null) ?? mounts[0];
  if (mount === undefined) return [];
  const names = (below(mount) ?? "").split("/").filter((name) => name !== "");
  // `/../other` is a group outside the namespace, whose files are not mounted (cgroup_namespaces(7)).
  const visible = names.includes("..") ? [] : names;
  return Array.from({ length: visible.length + 1 }, (_, level) =>
    [mount.mountPoint, ...visible.slice(0, visible.length - level)].join("/"),
  );
}

/** Returns the number behind a name in a file with a name and a number in each line; NaN if there is none. */
function counter(text: string, name: string): number {
  return wholeNumber(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1] ?? "");
}

function wholeNumber(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** Returns the smallest finite number; null if there is none. */
function least(numbers: readonly number[]): number | null {
  const finite = numbers.filter(Number.isFinite);
  return finite.length === 0 ? null : Math.min(...finite);
}
