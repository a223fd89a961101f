import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { syncDirectoryNow } from "../files/index.ts";
import type { LogPosition } from "./log-format.ts";
import { positionSchema } from "./messages.ts";

/**
 * The end of a log that was copied to the database's file and emptied, with the state of that file. While the file is in
 * this state, it has everything up to this position, and the log everything after it: SQLite starts a log again only
 * when all of it is in the file, and whatever writes the file changes its times.
 */
const endSchema = Type.Object({
  position: positionSchema,
  /** Start of the machine, of which an operating system has an id. */
  boot: Type.String(),
  file: Type.String(),
});

/** Time within which a file may change without another time of change. */
const CLOCK_NANOSECONDS = 50_000_000n;
/** Times are multiples of this on file systems whose clock is too coarse. */
const COARSE_NANOSECONDS = 10_000_000n;

/**
 * Returns the end of the emptied log; null if it is not known, or if the database's file was changed since.
 * @param within `boot` if the machine must not have been restarted since: a power cut can lose times of change
 */
export function readLogEnd(path: string, databasePath: string, within: "boot" | "always"): LogPosition | null {
  try {
    const end: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (!Value.Check(endSchema, end) || end.file !== fileState(databasePath).name) return null;
    return within === "always" || (end.boot !== "" && end.boot === currentBoot()) ? end.position : null;
  } catch {
    return null;
  }
}

/** Stores the end of a log that was emptied. */
export function writeLogEnd(path: string, databasePath: string, position: LogPosition): void {
  const end: Static<typeof endSchema> = { position, boot: currentBoot(), file: fileState(databasePath).name };
  writeFileSync(`${path}.new`, JSON.stringify(end), { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
  syncDirectoryNow(dirname(path));
}

/** Returns whether any further write of a file changes its times. @param now in milliseconds since the epoch */
export function isSettled(databasePath: string, now: number): boolean {
  const { changedAt } = fileState(databasePath);
  return changedAt % COARSE_NANOSECONDS !== 0n && BigInt(Math.floor(now)) * 1_000_000n - changedAt > CLOCK_NANOSECONDS;
}

function fileState(path: string) {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return { name: [dev, ino, size, mtimeNs, ctimeNs].join(":"), changedAt: ctimeNs };
}

/** Returns the id of the current start of the machine; empty if the operating system has none. */
function currentBoot(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
