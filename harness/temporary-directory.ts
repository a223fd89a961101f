import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made = new Set<string>();

/** Creates a directory that is removed at the end of the scope: `using directory = temporaryDirectory()`. */
export function temporaryDirectory(parent = tmpdir()): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(parent, "transcribe-test-"));
  made.add(path);
  return { path, [Symbol.dispose]: () => remove(path) };
}

export function temporaryDirectories(): string[] {
  return [...made];
}

/** Removes leftover directories of skipped tests, whose `afterAll` never runs, and of scripts that were interrupted. */
export function removeTemporaryDirectories(): void {
  for (const path of made) remove(path);
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
  made.delete(path);
}
