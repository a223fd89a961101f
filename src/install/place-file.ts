import { randomUUID } from "node:crypto";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { syncDirectoryNow, syncFile } from "../files/index.ts";
import { digestFile } from "../program/index.ts";

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
    syncFile(temporary);
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

/** Returns whether two files have the same bytes. */
export async function sameBytes(one: string, other: string): Promise<boolean> {
  if (!existsSync(one) || !existsSync(other) || Bun.file(one).size !== Bun.file(other).size) return false;
  return (await digestFile(one, "sha256")) === (await digestFile(other, "sha256"));
}
