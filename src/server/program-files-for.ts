import { join, resolve } from "node:path";
import type { Settings } from "../config/index.ts";
import { type ProgramFiles, programFiles } from "../program/index.ts";

interface Places {
  readonly storage: Pick<Settings["storage"], "data_dir" | "runtime_dir">;
}

/** The parts that are not TypeScript, ready to be used, where the settings say that they may be unpacked. */
export function programFilesFor(settings: Places): Promise<ProgramFiles> {
  return programFiles(runtimeDirectoryOf(settings));
}

/** Where a program in one file unpacks its parts; absolute, since ffmpeg is started in another directory than this one. */
export function runtimeDirectoryOf({ storage }: Places): string {
  return resolve(storage.runtime_dir || join(storage.data_dir, "runtime"));
}
