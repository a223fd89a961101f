import { Database } from "bun:sqlite";
import { createHash, randomUUID } from "node:crypto";
import {
  chmodSync,
  createReadStream,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncDirectoryNow } from "../files/index.ts";
import { codeOf } from "../text/index.ts";
import type { EmbeddedPart } from "./contents.ts";
import { innerDirectoryName } from "./inner-program.ts";
import { UnpackError } from "./own-program.ts";
import { requirePrivate, requireTrustedPath, unpackErrorOf } from "./runtime-directory.ts";
import { writePartsInChild } from "./unpack-child.ts";

const lockName = "lock";
/** Written last, so a directory that contains it was complete once. */
const stampName = "parts.json";

/** Maximum time that a start waits for another one's cleanup, which takes no longer than deleting some files. */
const LOCK_WAIT_MILLISECONDS = 30_000;

/** Locks of the runtime directories that this process uses; they are held until it exits. */
const heldLocks = new Map<string, Database>();

/** The single file of a program. */
export interface PackedProgram {
  /** Open for reading. */
  readonly file: number;
  readonly parts: readonly EmbeddedPart[];
  readonly inner: EmbeddedPart;
}

/** The content of a directory below a runtime directory. */
interface Content {
  readonly name: string;
  readonly parts: readonly EmbeddedPart[];
  /** Content of the stamp; null for a directory without one. */
  readonly manifest: string | null;
}

/**
 * Makes sure that the parts are in a directory below `runtimeDirectory`, and returns it. Its name is a hash of all
 * parts. It appears complete and verified or not at all; if two processes unpack at once, the slower one discards its
 * own. Leftovers of other versions and killed processes are removed once nobody uses the runtime directory.
 *
 * A complete directory is checked only by names and sizes: `verifyParts` checks the bytes.
 * @throws {UnpackError} when the parts cannot be unpacked or the directory is not safe
 */
export function unpackParts(runtimeDirectory: string, program: PackedProgram): Promise<string> {
  return unpackContent(runtimeDirectory, contentOf(program.parts), program);
}

/**
 * Makes sure that the inner program is in a directory below `runtimeDirectory`, where the launcher finds it.
 * @throws {UnpackError}
 */
export async function unpackInner(runtimeDirectory: string, program: PackedProgram): Promise<void> {
  const directory = await unpackContent(runtimeDirectory, innerContent(program), program);
  // Other users may execute it: a process that gives up root's rights starts it again, by the kernel's link.
  chmodSync(join(directory, program.inner.path), 0o555);
}

async function unpackContent(runtimeDirectory: string, content: Content, program: PackedProgram): Promise<string> {
  const target = join(runtimeDirectory, content.name);
  try {
    requireTrustedPath(runtimeDirectory);
    mkdirSync(runtimeDirectory, { recursive: true, mode: 0o700 });
    requirePrivate(runtimeDirectory);
    const kept = [contentOf(program.parts).name, innerContent(program).name];
    const lock = heldLocks.get(runtimeDirectory) ?? takeLock(runtimeDirectory, kept);
    if (lock !== null) heldLocks.set(runtimeDirectory, lock);
    if (!isComplete(target, content)) await unpackInto(runtimeDirectory, target, content, program.file);
    requirePrivate(target);
    return target;
  } catch (error) {
    const sizeBytes = content.parts.reduce((sum, { bytes }) => sum + bytes, 0);
    throw unpackErrorOf(error, runtimeDirectory, sizeBytes);
  }
}

/**
 * Returns the directory in which `unpackParts` would find the parts complete, by names and sizes. Returns null when it
 * would have to unpack them, or would not use that directory.
 */
export function findUnpacked(runtimeDirectory: string, parts: readonly EmbeddedPart[]): string | null {
  const content = contentOf(parts);
  const target = join(runtimeDirectory, content.name);
  if (!isComplete(target, content)) return null;
  try {
    requireTrustedPath(runtimeDirectory);
    requirePrivate(runtimeDirectory);
    requirePrivate(target);
    return target;
  } catch {
    return null;
  }
}

/** Replaces the unpacked parts, whatever is wrong with them. @throws {UnpackError} */
export async function unpackAgain(runtimeDirectory: string, program: PackedProgram): Promise<void> {
  rmSync(join(runtimeDirectory, contentOf(program.parts).name, stampName), { force: true });
  await unpackParts(runtimeDirectory, program);
}

/** Replaces the unpacked inner program. A process that runs it keeps the old one. @throws {UnpackError} */
export async function unpackInnerAgain(runtimeDirectory: string, program: PackedProgram): Promise<void> {
  const content = innerContent(program);
  try {
    rmSync(join(runtimeDirectory, content.name, program.inner.path), { force: true });
  } catch (error) {
    throw unpackErrorOf(error, runtimeDirectory, program.inner.bytes);
  }
  await unpackInner(runtimeDirectory, program);
}

/** A fault of an unpacked part. */
export interface PartFault {
  /** Path below the directory of all parts. */
  readonly path: string;
  readonly fault: "missing" | "changed";
}

/** Reads every byte of unpacked parts and returns the faults. */
export async function verifyParts(directory: string, parts: readonly EmbeddedPart[]): Promise<PartFault[]> {
  const faults: PartFault[] = [];
  for (const { path, sha256 } of parts) {
    const found = await digestFile(join(directory, path), "sha256").catch(() => null);
    if (found !== sha256) faults.push({ path, fault: found === null ? "missing" : "changed" });
  }
  return faults;
}

/** Returns the directory of the parts. Its stamp has the properties that determine the files, one line for each part. */
function contentOf(parts: readonly EmbeddedPart[]): Content {
  const lines = parts.map(({ path, bytes, sha256, executable }) => JSON.stringify({ path, bytes, sha256, executable }));
  const manifest = `${lines.sort().join("\n")}\n`;
  return { name: createHash("sha256").update(manifest).digest("hex").slice(0, 32), parts, manifest };
}

/** Returns the directory of the inner program. The launcher writes no stamp. */
function innerContent({ inner }: PackedProgram): Content {
  return { name: innerDirectoryName(inner), parts: [inner], manifest: null };
}

/**
 * Removes leftovers and takes the lock of the runtime directory: SQLite's lock on an empty file, which the kernel
 * releases when the process exits for any reason. All programs that use the directory share the lock, so only the first
 * one cleans up. Returns null when nothing can be written: then existing parts may still be used.
 */
function takeLock(runtimeDirectory: string, kept: readonly string[]): Database | null {
  try {
    const database = new Database(join(runtimeDirectory, lockName), { create: true });
    if (lockExclusively(database)) {
      try {
        removeLeftovers(runtimeDirectory, kept);
      } finally {
        database.run("ROLLBACK");
      }
    }
    database.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MILLISECONDS}`);
    database.run("BEGIN");
    database.query("SELECT count(*) FROM sqlite_schema").get();
    return database;
  } catch {
    return null;
  }
}

function lockExclusively(database: Database): boolean {
  try {
    database.run("PRAGMA busy_timeout = 0");
    database.run("BEGIN EXCLUSIVE");
    return true;
  } catch {
    return false;
  }
}

function removeLeftovers(runtimeDirectory: string, kept: readonly string[]): void {
  for (const entry of readdirSync(runtimeDirectory)) {
    if (/^[0-9a-f]{32}(\.[0-9a-f-]{36})?$/.test(entry) && !kept.includes(entry)) {
      rmSync(join(runtimeDirectory, entry), { recursive: true, force: true });
    }
  }
}

function isComplete(directory: string, { manifest, parts }: Content): boolean {
  try {
    if (manifest !== null && readFileSync(join(directory, stampName), "utf8") !== manifest) return false;
    return parts.every(({ path, bytes }) => {
      const found = lstatSync(join(directory, path));
      return found.isFile() && found.size === bytes;
    });
  } catch {
    return false;
  }
}

async function unpackInto(runtimeDirectory: string, target: string, content: Content, file: number): Promise<void> {
  const { manifest, parts } = content;
  const temporary = `${target}.${randomUUID()}`;
  mkdirSync(temporary, { mode: 0o700 });
  try {
    const directories = new Set([temporary]);
    for (const part of parts) {
      const directory = dirname(join(temporary, part.path));
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      directories.add(directory);
    }
    await writePartsInChild(temporary, parts, file);
    if (manifest !== null) await writeFile(join(temporary, stampName), manifest, { mode: 0o400, flush: true });
    for (const directory of directories) syncDirectoryNow(directory);
    if (!moveTo(target, temporary) && !isComplete(target, content)) {
      // Files of the target were removed since it was complete. Processes that use it keep their open files.
      const broken = `${target}.${randomUUID()}`;
      renameSync(target, broken);
      if (!moveTo(target, temporary) && !isComplete(target, content)) {
        throw new UnpackError(`something changes ${target} while this program unpacks; stop it and start again`);
      }
      rmSync(broken, { recursive: true, force: true });
    }
    syncDirectoryNow(runtimeDirectory);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Renames a directory. @returns false when the target exists already */
function moveTo(target: string, temporary: string): boolean {
  try {
    renameSync(temporary, target);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes(codeOf(error))) return false;
    throw error;
  }
}

/**
 * Computes a file's digest in lower-case hexadecimal, reading it in chunks.
 * @throws the file system's error when the file cannot be read
 */
export async function digestFile(path: string, algorithm: "sha256" | "sha1"): Promise<string> {
  const hasher = new Bun.CryptoHasher(algorithm);
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hasher.update(chunk);
  return hasher.digest("hex");
}
