import { existsSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Machine } from "./machine.ts";

export interface Mount {
  readonly mountPoint: string;
  /** ext4, xfs, nfs4, tmpfs, overlay, … */
  readonly kind: string;
  readonly options: readonly string[];
}

/** The deepest part of a path that is there, links resolved. */
export function existingPart(path: string): string {
  let part = resolve(path);
  while (!existsSync(part) && dirname(part) !== part) part = dirname(part);
  try {
    return realpathSync(part);
  } catch {
    return part;
  }
}

/** The mount that a path lies on, from /proc/self/mountinfo; null where there is no such file. */
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
  // Reversed: of two mounts on one place the later counts, and sorting keeps their order.
  return mounts.filter(holds).sort((a, b) => b.mountPoint.length - a.mountPoint.length)[0] ?? null;
}

/** The kernel writes blanks and the like as octal numbers. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
