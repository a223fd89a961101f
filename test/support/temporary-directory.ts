import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made = new Set<string>();

/** A directory of its own that goes with the scope: `using directory = temporaryDirectory()`. */
export function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "transcribe-test-"));
  made.add(path);
  return { path, [Symbol.dispose]: () => remove(path) };
}

/** The paths of those that are there. */
export function temporaryDirectories(): string[] {
  return [...made];
}

/** Removes those that are left: of tests that are skipped, whose `afterAll` is never called, and of trials that are stopped. */
export function removeTemporaryDirectories(): void {
  for (const path of made) remove(path);
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
  made.delete(path);
}
