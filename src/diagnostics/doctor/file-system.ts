import { existsSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Machine } from "./machine.ts";

export interface Mount {
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
