import { join } from "node:path";

const script = join(import.meta.dir, "run.ts");

/** Ways to get a network and mounts of one's own: as root, or as the root of a user namespace. */
const ways = [
  ["unshare", "--net", "--mount"],
  ["unshare", "--user", "--map-root-user", "--net", "--mount"],
];

/**
 * A command line that runs another where there is no network but loopback, and fails when it tried to leave it; null where
 * this user may make no such place, or a tool is missing.
 */
export function offline(command: readonly string[]): string[] | null {
  if (["unshare", "ip", "mount"].some((tool) => Bun.which(tool) === null)) return null;
  const way = ways.find((candidate) => Bun.spawnSync([...candidate, "true"]).exitCode === 0);
  return way === undefined ? null : [...way, process.execPath, "--no-env-file", script, ...command];
}
