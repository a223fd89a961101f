import { gpuLibraries } from "../whisper/index.ts";
import { type DeviceTrialOptions, tryGpuLibrary } from "./try-devices.ts";

/** The GPU backends that a worker may load, and those that are of no use here. */
export interface GpuChoice {
  /** File names. */
  readonly gpuLibraries: readonly string[];
  readonly leftOut: readonly { readonly library: string; readonly reason: string }[];
}

/** Tries each GPU backend of the directory with the model, in a process that may crash. Without any it starts none. */
export async function chooseGpuLibraries(
  options: DeviceTrialOptions & { readonly whisperModel: string },
): Promise<GpuChoice> {
  const working: string[] = [];
  const leftOut: { library: string; reason: string }[] = [];
  for (const library of gpuLibraries(options.nativeDirectory)) {
    const trial = await tryGpuLibrary(options, library);
    if (trial.ok) working.push(library);
    else leftOut.push({ library, reason: trial.reason });
  }
  return { gpuLibraries: working, leftOut };
}
