import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory of its own that goes with the scope: `using directory = temporaryDirectory()`. */
export function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "transcribe-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
