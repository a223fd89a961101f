import { join, resolve } from "node:path";
import type { Settings } from "../config/index.ts";
import { type ProgramFiles, programFiles } from "../program/index.ts";

interface Places {
  readonly storage: Pick<Settings["storage"], "data_dir" | "runtime_dir">;
}

/**
 * Returns the program files that are not TypeScript, ready for use. A single-file program unpacks them into the
 * directory that the settings name.
 */
export function programFilesFor(settings: Places): Promise<ProgramFiles> {
  return programFiles(runtimeDirectoryOf(settings));
}

/**
 * Returns the directory into which a single-file program unpacks its files. It is absolute, because ffmpeg is started
 * in another directory.
 */
export function runtimeDirectoryOf({ storage }: Places): string {
  return resolve(storage.runtime_dir || join(storage.data_dir, "runtime"));
}
