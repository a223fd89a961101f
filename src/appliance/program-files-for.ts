import { join } from "node:path";
import type { Settings } from "../config/index.ts";
import { type ProgramFiles, programFiles } from "../program/index.ts";

/** The parts that are not TypeScript, ready to be used, where the settings say that they may be unpacked. */
export function programFilesFor({ storage }: Pick<Settings, "storage">): Promise<ProgramFiles> {
  return programFiles(storage.runtime_dir || join(storage.data_dir, "runtime"));
}
