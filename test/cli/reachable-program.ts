import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "../../harness/checkout.ts";

/** Paths of this checkout that a command needs. */
const needed = [
  dirname(process.execPath),
  ...["src", "node_modules", "build/native", "build/ffmpeg/ffmpeg", "build/models/ggml-base.bin"].map((path) =>
    join(root, path),
  ),
];

/** Returns the first directory on a path that some users may not enter, or null. */
function closedOn(path: string): string | null {
  const above = path === "/" ? null : closedOn(dirname(path));
  if (above !== null) return above;
  const stats = lstatSync(path);
  return stats.isDirectory() && (stats.mode & 0o001) === 0 ? path : null;
}

/**
 * Returns a command line with which every user can run the program. Caches may be in a home directory that other users
 * cannot enter. The command then runs in a mount namespace in which this directory contains only the paths it needs.
 * @param scratch an empty directory
 */
export function withReachableProgram(command: readonly string[], scratch: string): string[] {
  const places = needed
    .map((path) => realpathSync(path))
    .map((path) => (lstatSync(path).isFile() ? dirname(path) : path));
  const closed = [...new Set(places.flatMap((path) => closedOn(path) ?? []))];
  if (closed.length === 0) return [...command];
  const steps = closed.flatMap((directory, index) => {
    const copy = join(scratch, String(index));
    mkdirSync(copy);
    const below = [...new Set(places)].filter((path) => path.startsWith(`${directory}/`));
    return [
      `mount --rbind '${directory}' '${copy}'`,
      `mount -t tmpfs -o mode=755 tmpfs '${directory}'`,
      ...below.map((path) => `mkdir -p '${path}' && mount --bind '${join(copy, relative(directory, path))}' '${path}'`),
    ];
  });
  return ["unshare", "--mount", "sh", "-ec", `${steps.join("\n")}\nexec "$@"`, "sh", ...command];
}
