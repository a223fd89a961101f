import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { DataPaths } from "../storage/index.ts";
import { codeOf } from "../text/index.ts";
import { type FileEntry, ProtocolError } from "./messages.ts";

/**
 * The files of a data directory that a standby gets, besides the database. Urgent ones are on the standby before the
 * transactions that name them: the audio of recordings, the sound of live sessions, and the notes of removals from a
 * bucket. The others can be made again, or are large and rarely change: work files and models.
 */
export type Lane = "urgent" | "bulk";

const ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,127}";
const urgentPath = new RegExp(`^(?:uploads/${ID}|live/${ID}/sound\\.pcm|state/audio/(?:owner|removed/${ID}))$`);
const bulkPath = new RegExp(`^(?:work/${ID}(?:/${NAME}){1,4}|models/installed/${NAME}/model\\.(?:bin|json))$`);

/** Returns how a file is sent; null for a path that no standby has. */
export function laneOf(path: string): Lane | null {
  if (urgentPath.test(path)) return "urgent";
  return bulkPath.test(path) && !/\.part(?:ial)?$/.test(path) ? "bulk" : null;
}

/** Returns how a file of a message is sent. @throws {ProtocolError} for any path that no standby has */
export function requireLane(path: string): Lane {
  const lane = laneOf(path);
  // The path may have control characters.
  if (lane === null) throw new ProtocolError(`the path ${JSON.stringify(path)} is none of a standby`);
  return lane;
}

/** Directories whose entries are the files themselves. */
export const flatDirectories = ["uploads", "state/audio/removed"] as const;

/** Returns the entry of a file; null if it is missing, or no ordinary file. */
export async function entryOf(root: string, path: string): Promise<FileEntry | null> {
  const stats = await statsOf(join(root, path));
  return stats?.isFile() === true ? toEntry(path, stats) : null;
}

export function toEntry(path: string, { size, mtimeMs }: Pick<Stats, "size" | "mtimeMs">): FileEntry {
  return { path, bytes: size, changedAt: Math.max(0, Math.round(mtimeMs)) };
}

export function isSameEntry(one: FileEntry, other: FileEntry): boolean {
  return one.bytes === other.bytes && one.changedAt === other.changedAt;
}

/** Lists all files of a lane, in any order. A file that is removed meanwhile may be missing. */
export async function* listFiles({ root }: DataPaths, lane: Lane): AsyncGenerator<FileEntry> {
  const tops = lane === "urgent" ? ["uploads", "live", "state/audio"] : ["work", "models/installed"];
  for (const top of tops) yield* filesBelow(root, top, lane);
}

async function* filesBelow(root: string, directory: string, lane: Lane): AsyncGenerator<FileEntry> {
  for (const { name, isDirectory } of await entriesIn(join(root, directory))) {
    const path = `${directory}/${name}`;
    if (isDirectory) yield* filesBelow(root, path, lane);
    else if (laneOf(path) === lane) {
      const entry = await entryOf(root, path);
      if (entry !== null) yield entry;
    }
  }
}

/** Returns the entries of a directory; none if it is missing. Links are not followed. */
async function entriesIn(directory: string) {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

async function statsOf(path: string): Promise<Stats | null> {
  return await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return null;
    throw error;
  });
}
