import { existsSync } from "node:fs";
import type { ProgramFiles } from "../../program/index.ts";
import { type GpuBackend, gpuBackends } from "../../speech/index.ts";
import type { CheckContext } from "./check.ts";

/**
 * Returns the parts of the program.
 * @throws the reason why they are not available, which `program.files` reports as well
 */
export function filesOf({ files }: CheckContext): ProgramFiles {
  if (files instanceof Error) throw files;
  return files;
}

/**
 * Returns the path of the speech model for new recordings. If that file is missing, returns the path of the program's
 * own model.
 */
export function speechModelOf(context: CheckContext): string {
  const path = context.speechModel?.path;
  return path !== undefined && existsSync(path) ? path : filesOf(context).speechModel;
}

/**
 * Returns the GPU backends of the program and the one named in the settings.
 * @throws as filesOf
 */
export function gpuBackendsOf(context: CheckContext): GpuBackend[] {
  return gpuBackends(filesOf(context).nativeDirectory, context.settings.engine.cuda_library);
}
