import { existsSync } from "node:fs";
import type { ProgramFiles } from "../../program/index.ts";
import { type GpuBackend, gpuBackends } from "../../speech/index.ts";
import type { CheckContext } from "./check.ts";

/** The parts of the program. @throws the reason where they can't be had, which `program.files` tells too */
export function filesOf({ files }: CheckContext): ProgramFiles {
  if (files instanceof Error) throw files;
  return files;
}

/** Path of the whisper model that new recordings are transcribed with; of the program's own while that one is not there. */
export function whisperModelOf(context: CheckContext): string {
  const path = context.whisperModel?.path;
  return path !== undefined && existsSync(path) ? path : filesOf(context).whisperModel;
}

/** The GPU backends that there are, the program's and the one that the settings name. @throws as filesOf */
export function gpuBackendsOf(context: CheckContext): GpuBackend[] {
  return gpuBackends(filesOf(context).nativeDirectory, context.settings.engine.cuda_library);
}
