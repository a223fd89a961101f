import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../wording/index.ts";
import { BackupError, copyDatabase } from "../copy-database.ts";
import type { DataPaths } from "../data-paths.ts";
import { type DatabaseFacts, databaseFacts } from "../database-facts.ts";
import { isDiskFull } from "../disk-full.ts";
import { syncDirectoryNow } from "../sync-directory.ts";
import { databaseName, type Manifest, manifestName, uploadName } from "./manifest.ts";
import { TAR_BLOCK_BYTES, tarHeader, tarPadding } from "./tar-header.ts";

/** What a backup holds. */
export interface WrittenBackup {
  readonly database: DatabaseFacts;
  /** Recordings as they were sent. */
  readonly uploads: { readonly files: number; readonly bytes: number };
  /** Of the archive. */
  readonly sizeBytes: number;
}

interface Upload {
  readonly id: string;
  readonly isOpen: boolean;
}

const pieceBytes = 1 << 20;
/** Tries at a moment in which no recording ends and is removed at once. */
const mostTries = 5;

/**
 * Writes the database and the recordings that it names into one file, while a server may work on them. What has not ended in
 * the database has its recording in the archive; of what has ended, those that are still kept. The file is its owner's
 * alone, and appears under its name whole and synced, or not at all; beside it, as much room as the database takes is needed.
 * @throws {BackupError} for a disk that is full or not writable, a target that exists, a source that is no database
 */
export function writeBackup(paths: DataPaths, target: string): WrittenBackup {
  if (statSync(target, { throwIfNoEntry: false }) !== undefined) {
    throw new BackupError(`there is a file ${target} already`);
  }
  const partial = `${target}.partial`;
  const snapshot = `${target}.database`;
  let held = new Map<string, number>();
  try {
    for (let tries = 1; ; tries++) {
      rmSync(snapshot, { force: true });
      // A recording that ends meanwhile may be removed at once; opened, it can be read nevertheless.
      held = openAll(paths, uploadsIn(paths.databasePath), held);
      copyDatabase(paths.databasePath, snapshot);
      held = openAll(paths, uploadsIn(snapshot), held);
      const stillOpen = new Set(uploadsIn(paths.databasePath).flatMap(({ id, isOpen }) => (isOpen ? id : [])));
      const ended = uploadsIn(snapshot).some(({ id, isOpen }) => isOpen && !held.has(id) && !stillOpen.has(id));
      if (!ended || tries === mostTries) break;
    }
    const written = writeArchive(paths, snapshot, partial, held);
    renameSync(partial, target);
    syncDirectoryNow(dirname(target));
    return { ...written, database: databaseFacts(snapshot) };
  } catch (error) {
    if (error instanceof BackupError) throw error;
    const why = isDiskFull(error) ? "the disk is full" : messageOf(error);
    throw new BackupError(`can't write the backup ${target}: ${why}`, { cause: error });
  } finally {
    for (const file of held.values()) closeSync(file);
    for (const path of [partial, snapshot]) rmSync(path, { force: true });
  }
}

/** The recordings that were sent or fetched, by a database of any version. */
function uploadsIn(databasePath: string): Upload[] {
  using database = new Database(databasePath, { readonly: true });
  database.run("PRAGMA busy_timeout = 10000");
  return database
    .query<{ id: string; open: number }, []>(
      "SELECT id, status IN ('queued', 'processing') AS open FROM recordings WHERE size_bytes IS NOT NULL ORDER BY id",
    )
    .all()
    .map(({ id, open }) => ({ id, isOpen: open === 1 }));
}

/** Opens the files of recordings that have not ended, which are few; those that were opened before stay so. */
function openAll(paths: DataPaths, uploads: readonly Upload[], held: ReadonlyMap<string, number>): Map<string, number> {
  const opened = new Map(held);
  for (const { id, isOpen } of uploads) {
    if (!isOpen || opened.has(id)) continue;
    const file = openIfThere(join(paths.uploads, id));
    if (file !== null) opened.set(id, file);
  }
  return opened;
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function writeArchive(paths: DataPaths, snapshot: string, partial: string, held: ReadonlyMap<string, number>) {
  rmSync(partial, { force: true });
  const archive = openSync(partial, "wx", 0o600);
  try {
    const files: Manifest["files"] = [];
    const add = (name: string, path: string, open: number | undefined) => {
      const file = open ?? openIfThere(path);
      if (file === null) return;
      try {
        files.push({ name, ...appendFile(archive, name, file) });
      } finally {
        if (open === undefined) closeSync(file);
      }
    };
    add(databaseName, snapshot, undefined);
    for (const { id } of uploadsIn(snapshot)) add(uploadName(id), join(paths.uploads, id), held.get(id));
    const manifest: Manifest = { format: "transcribe-backup", version: 1, files };
    const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
    writeWhole(archive, tarHeader({ name: manifestName, sizeBytes: text.length }));
    writeWhole(archive, text);
    writeWhole(archive, Buffer.alloc(tarPadding(text.length) + 2 * TAR_BLOCK_BYTES));
    fsyncSync(archive);
    const uploads = files.slice(1);
    return {
      uploads: { files: uploads.length, bytes: uploads.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) },
      sizeBytes: fstatSync(archive).size,
    };
  } finally {
    closeSync(archive);
  }
}

/** A file that is there is whole and never changes. */
function appendFile(archive: number, name: string, file: number): { sizeBytes: number; sha256: string } {
  const sizeBytes = fstatSync(file).size;
  writeWhole(archive, tarHeader({ name, sizeBytes }));
  const hash = createHash("sha256");
  const buffer = Buffer.alloc(pieceBytes);
  for (let done = 0; done < sizeBytes; ) {
    const count = readSync(file, buffer, 0, Math.min(pieceBytes, sizeBytes - done), done);
    if (count === 0) throw new Error(`${name} became shorter while it was read`);
    const piece = buffer.subarray(0, count);
    hash.update(piece);
    writeWhole(archive, piece);
    done += count;
  }
  writeWhole(archive, Buffer.alloc(tarPadding(sizeBytes)));
  return { sizeBytes, sha256: hash.digest("hex") };
}

/** A write may take only a part, near a full disk for one. */
function writeWhole(file: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.byteLength; ) {
    written += writeSync(file, bytes, written, bytes.byteLength - written);
  }
}
