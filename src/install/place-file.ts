import { randomUUID } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { syncDirectoryNow } from "../files/index.ts";

interface PlaceOptions {
  readonly mode: number;
  /** Group of the file; root's own when omitted. */
  readonly gid?: number;
  /** Path under which the replaced file is stored. */
  readonly previous?: string;
}

/**
 * Writes a text to a file: after a crash, the file has either the whole text or its old content. Missing directories
 * are created.
 */
export function placeText(path: string, text: string, options: PlaceOptions): void {
  place(path, options, (temporary) => writeFileSync(temporary, text, { mode: 0o600 }));
}

/** Does the same with a copy of a file, which may be the file that is replaced. */
export function placeCopy(path: string, source: string, options: PlaceOptions): void {
  place(path, options, (temporary) => copyFileSync(source, temporary));
}

function place(path: string, { mode, gid, previous }: PlaceOptions, write: (temporary: string) => void): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  const temporary = `${path}.${randomUUID()}`;
  try {
    write(temporary);
    if (gid !== undefined) chownSync(temporary, 0, gid);
    chmodSync(temporary, mode);
    sync(temporary);
    if (previous !== undefined && existsSync(path)) {
      // The old file gets a second name first, so that the path always has a file.
      const second = `${previous}.${randomUUID()}`;
      linkSync(path, second);
      renameSync(second, previous);
    }
    renameSync(temporary, path);
    syncDirectoryNow(dirname(path));
  } finally {
    rmSync(temporary, { force: true });
  }
}

function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Returns whether two files have the same bytes. */
export async function sameBytes(one: string, other: string): Promise<boolean> {
  if (!existsSync(one) || !existsSync(other) || Bun.file(one).size !== Bun.file(other).size) return false;
  return (await digestOf(one)) === (await digestOf(other));
}

async function digestOf(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const piece of Bun.file(path).stream()) hasher.update(piece);
  return hasher.digest("hex");
}
