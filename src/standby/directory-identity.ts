import { createHash } from "node:crypto";
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { syncDirectoryNow, writeAll } from "../files/index.ts";
import type { DataPaths } from "../storage/index.ts";
import { codeOf } from "../text/index.ts";
import type { LeaseRecord } from "./lease-record.ts";

/** Who holds a lease: a data directory on a machine. */
export type Holder = Pick<LeaseRecord, "owner" | "host">;

/**
 * Returns the holder of a data directory's lease. Only one process at a time serves a data directory, so the lease of an
 * earlier process is valid for the next one. A copy of the directory, or the same one on another machine, is another holder.
 */
export function holderOf({ root, state }: DataPaths): Holder {
  const host = hostname();
  const parts = [ownId(join(state, "directory-id")), host, root, String(statSync(root).ino)];
  return { owner: createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 32), host: printable(host) };
}

/** Returns the id of a data directory, and gives it one. */
function ownId(path: string): string {
  const known = readIfThere(path);
  if (known !== null) return known;
  const partial = `${path}.${crypto.randomUUID()}`;
  const file = openSync(partial, "wx", 0o600);
  try {
    writeAll(file, new TextEncoder().encode(`${crypto.randomUUID()}\n`));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    // If another command is faster, its id is used.
    linkSync(partial, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    rmSync(partial, { force: true });
  }
  syncDirectoryNow(dirname(path));
  return readFileSync(path, "utf8").trim();
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

const printable = (host: string) =>
  [...host]
    .filter((each) => each > " " && each !== "\x7f")
    .join("")
    .slice(0, 255);
