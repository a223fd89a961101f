import { createHash, randomUUID } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { digestFile } from "./digest-file.ts";
import type { EmbeddedPart } from "./embedded.ts";
import { refusalOf, requirePrivate, requirePrivateWay } from "./runtime-directory.ts";
import { writePartsAside } from "./unpack-child.ts";
import { UnpackError } from "./unpack-error.ts";
import { UseLock } from "./use-lock.ts";

const lockName = "lock";
/** Written last, so that a directory that has it was once whole. */
const stampName = "parts.json";

/** Locks of the directories that this process uses; they are held as long as it lives. */
const held = new Map<string, UseLock>();

/**
 * Makes sure that the parts lie in a directory below `runtimeDirectory` that is named by a hash of them all, and returns it.
 * It appears whole and verified or not at all; of two that unpack at once, the slower throws its own away. What other
 * versions and killed unpackings left is removed once nobody uses the runtime directory.
 *
 * Where it is whole already, only names and sizes are looked at: `verifyParts` looks at the bytes.
 * @throws {UnpackError}
 */
export async function unpackParts(runtimeDirectory: string, parts: readonly EmbeddedPart[]): Promise<string> {
  const manifest = manifestOf(parts);
  const name = nameOf(manifest);
  const target = join(runtimeDirectory, name);
  try {
    requirePrivateWay(runtimeDirectory);
    mkdirSync(runtimeDirectory, { recursive: true, mode: 0o700 });
    requirePrivate(runtimeDirectory);
    const lock = held.get(runtimeDirectory) ?? takeLock(runtimeDirectory, name);
    if (lock !== null) held.set(runtimeDirectory, lock);
    if (!isWhole(target, manifest, parts)) await unpackInto(runtimeDirectory, target, manifest, parts);
    requirePrivate(target);
    return target;
  } catch (error) {
    throw refusalOf(error, runtimeDirectory, sizeOf(parts));
  }
}

/**
 * Where `unpackParts` would find the parts whole, by names and sizes; null where it would have to unpack them, or would not
 * use what lies there.
 */
export function findUnpacked(runtimeDirectory: string, parts: readonly EmbeddedPart[]): string | null {
  const manifest = manifestOf(parts);
  const target = join(runtimeDirectory, nameOf(manifest));
  if (!isWhole(target, manifest, parts)) return null;
  try {
    requirePrivateWay(runtimeDirectory);
    requirePrivate(runtimeDirectory);
    requirePrivate(target);
    return target;
  } catch {
    return null;
  }
}

/** Puts the parts in the place of those that lie there, whatever is wrong with them. @throws {UnpackError} */
export async function unpackAgain(runtimeDirectory: string, parts: readonly EmbeddedPart[]): Promise<void> {
  rmSync(join(runtimeDirectory, nameOf(manifestOf(parts)), stampName), { force: true });
  await unpackParts(runtimeDirectory, parts);
}

/** What is wrong with an unpacked part. */
export interface PartFault {
  /** Below the directory of all parts. */
  readonly path: string;
  readonly fault: "missing" | "changed";
}

/** Reads every byte of unpacked parts and says what is wrong with them. */
export async function verifyParts(directory: string, parts: readonly EmbeddedPart[]): Promise<PartFault[]> {
  const faults: PartFault[] = [];
  for (const { path, sha256 } of parts) {
    const found = await digestFile(join(directory, path), "sha256").catch(() => null);
    if (found !== sha256) faults.push({ path, fault: found === null ? "missing" : "changed" });
  }
  return faults;
}

/** Everything that makes the unpacked files what they are. */
function manifestOf(parts: readonly EmbeddedPart[]): string {
  const lines = parts.map(({ path, bytes, sha256, executable }) => JSON.stringify({ path, bytes, sha256, executable }));
  return `${lines.sort().join("\n")}\n`;
}

function nameOf(manifest: string): string {
  return createHash("sha256").update(manifest).digest("hex").slice(0, 32);
}

function sizeOf(parts: readonly EmbeddedPart[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Null where nothing can be written: then nothing is swept either, and what lies there may be used. */
function takeLock(runtimeDirectory: string, name: string): UseLock | null {
  try {
    const lock = new UseLock(join(runtimeDirectory, lockName));
    lock.alone(() => sweep(runtimeDirectory, name));
    lock.share();
    return lock;
  } catch {
    return null;
  }
}

function sweep(runtimeDirectory: string, name: string): void {
  for (const entry of readdirSync(runtimeDirectory)) {
    if (/^[0-9a-f]{32}(\.[0-9a-f-]{36})?$/.test(entry) && entry !== name) {
      rmSync(join(runtimeDirectory, entry), { recursive: true, force: true });
    }
  }
}

function isWhole(directory: string, manifest: string, parts: readonly EmbeddedPart[]): boolean {
  try {
    if (readFileSync(join(directory, stampName), "utf8") !== manifest) return false;
    return parts.every(({ path, bytes }) => {
      const found = lstatSync(join(directory, path));
      return found.isFile() && found.size === bytes;
    });
  } catch {
    return false;
  }
}

async function unpackInto(
  runtimeDirectory: string,
  target: string,
  manifest: string,
  parts: readonly EmbeddedPart[],
): Promise<void> {
  const temporary = `${target}.${randomUUID()}`;
  mkdirSync(temporary, { mode: 0o700 });
  try {
    const directories = new Set([temporary]);
    for (const part of parts) {
      const directory = dirname(join(temporary, part.path));
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      directories.add(directory);
    }
    await writePartsAside(temporary, parts);
    await writeFile(join(temporary, stampName), manifest, { mode: 0o400, flush: true });
    for (const directory of directories) syncDirectory(directory);
    if (!moveTo(target, temporary) && !isWhole(target, manifest, parts)) {
      // Something took files away from it since: whoever uses it keeps what is open.
      const broken = `${target}.${randomUUID()}`;
      renameSync(target, broken);
      if (!moveTo(target, temporary) && !isWhole(target, manifest, parts)) {
        throw new UnpackError(`something changes ${target} while this program unpacks; stop it and start again`);
      }
      rmSync(broken, { recursive: true, force: true });
    }
    syncDirectory(runtimeDirectory);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** @returns false where something is there already */
function moveTo(target: string, temporary: string): boolean {
  try {
    renameSync(temporary, target);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOTEMPTY" || error.code === "EEXIST"))
      return false;
    throw error;
  }
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
