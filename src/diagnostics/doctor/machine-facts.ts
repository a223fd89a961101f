import { existsSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Machine } from "./machine.ts";

/** Values from here on mean "no limit": version 1 writes no limit as the largest number of whole pages. */
const UNLIMITED_MEMORY_BYTES = 2 ** 62;

/** Returns the strictest limits of the control groups of this process, for versions 1 and 2; null means no limit. */
export function cgroupLimits(machine: Machine): { processors: number | null; memoryBytes: number | null } {
  const groups = [...(machine.read("/proc/self/cgroup") ?? "").matchAll(/^\d+:([^:\n]*):(\/.*)$/gm)];
  const directoriesOf = (controller: string) =>
    groups.flatMap(([, controllers = "", path = ""]) =>
      controllers.split(",").includes(controller) ? withAncestors(path) : [],
    );
  const read = (path: string) => machine.read(`/sys/fs/cgroup${path}`)?.trim() ?? "";
  const quotas = [
    ...directoriesOf("").map((path) => read(`${path}/cpu.max`).split(" ")),
    ...directoriesOf("cpu").flatMap((path) =>
      ["/cpu", "/cpu,cpuacct"].map((root) =>
        ["quota", "period"].map((name) => read(`${root}${path}/cpu.cfs_${name}_us`)),
      ),
    ),
  ];
  const memory = [
    ...directoriesOf("").map((path) => read(`${path}/memory.max`)),
    ...directoriesOf("memory").map((path) => read(`/memory${path}/memory.limit_in_bytes`)),
  ];
  const processors = quotas.flatMap(([quota = "", period]) =>
    isNumber(quota) ? [Number(quota) / Number(period)] : [],
  );
  return {
    processors: least(processors.filter((value) => value > 0 && Number.isFinite(value))),
    memoryBytes: least(
      memory
        .filter(isNumber)
        .map(Number)
        .filter((bytes) => bytes < UNLIMITED_MEMORY_BYTES),
    ),
  };
}

/** Returns a path and its ancestors, each of which may set a limit: `/a/b` → `/a/b`, `/a`, and the root as "". */
function withAncestors(path: string): string[] {
  const names = path.split("/").filter((name) => name !== "");
  return [...names.map((_, index) => `/${names.slice(0, names.length - index).join("/")}`), ""];
}

const isNumber = (text: string) => /^\d+$/.test(text);
const least = (numbers: readonly number[]) => (numbers.length === 0 ? null : Math.min(...numbers));

interface Mount {
  readonly mountPoint: string;
  /** ext4, xfs, nfs4, tmpfs, overlay, … */
  readonly kind: string;
  readonly options: readonly string[];
}

/** Returns the deepest existing part of a path, with links resolved. */
export function existingPart(path: string): string {
  let part = resolve(path);
  while (!existsSync(part) && dirname(part) !== part) part = dirname(part);
  try {
    return realpathSync(part);
  } catch {
    return part;
  }
}

/** Returns the mount of a path, from /proc/self/mountinfo; null if no mount is found. */
export function mountOf(machine: Machine, path: string): Mount | null {
  const lines = (machine.read("/proc/self/mountinfo") ?? "").split("\n").reverse();
  const mounts = lines.flatMap((line): Mount[] => {
    const [left = "", right = ""] = line.split(" - ");
    const [, , , , mountPoint = "", options = ""] = left.split(" ");
    const [kind = "", , superOptions = ""] = right.split(" ");
    if (mountPoint === "") return [];
    return [{ mountPoint: unescaped(mountPoint), kind, options: [...options.split(","), ...superOptions.split(",")] }];
  });
  const holds = ({ mountPoint }: Mount) =>
    mountPoint === "/" || path === mountPoint || path.startsWith(`${mountPoint}/`);
  // The lines are reversed because the later of two mounts on one mount point hides the earlier. The sort is stable.
  return mounts.filter(holds).sort((a, b) => b.mountPoint.length - a.mountPoint.length)[0] ?? null;
}

/** Decodes the octal escapes that the kernel writes for blanks and similar characters. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

interface Gpu {
  /** PCI address, e.g. 0000:01:00.0 */
  readonly address: string;
  readonly vendor: "NVIDIA" | "AMD" | "Intel";
  /** Kernel driver bound to the GPU; null if there is none. */
  readonly driver: string | null;
}

const vendors: Readonly<Record<string, Gpu["vendor"]>> = { "0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel" };

/**
 * Returns the display and compute controllers of vendors whose GPUs can compute. The simple graphics chip of a server
 * is not included.
 */
export function findGpus(machine: Machine): Gpu[] {
  const root = "/sys/bus/pci/devices";
  return machine.list(root).flatMap((address): Gpu[] => {
    const isDisplay = /^0x(03|12)/.test(machine.read(`${root}/${address}/class`) ?? "");
    const vendor = vendors[machine.read(`${root}/${address}/vendor`)?.trim() ?? ""];
    if (!isDisplay || vendor === undefined) return [];
    const driver = /^DRIVER=(.+)$/m.exec(machine.read(`${root}/${address}/uevent`) ?? "")?.[1] ?? null;
    return [{ address, vendor, driver }];
  });
}
