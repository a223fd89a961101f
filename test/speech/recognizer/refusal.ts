import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { ModelFileError } from "../../../src/speech/recognizer/ggml-file/index.ts";

/** Calls a function with a file that has these bytes. */
export function withFile<T>(bytes: Uint8Array, use: (path: string) => T): T {
  using directory = temporaryDirectory();
  const path = join(directory.path, "model.bin");
  writeFileSync(path, bytes);
  return use(path);
}

/** Returns why a check refuses a model file with these bytes; empty if it does not. */
export function refusal(bytes: Uint8Array, check: (path: string) => unknown): string {
  return withFile(bytes, (path) => {
    try {
      check(path);
      return "";
    } catch (error) {
      if (error instanceof ModelFileError) return error.message;
      throw error;
    }
  });
}
