import { gpuLibraries } from "../whisper/index.ts";
import { isGpuWithinReach } from "./gpu-presence.ts";
import { type GpuTestOptions, gpuVerdictKey, tryGpuLibrary } from "./gpu-self-test.ts";
import { addVerdicts, readVerdicts } from "./verdicts.ts";

/** The GPU backend that whisper computes with, and those that are of no use here. */
export interface GpuChoice {
  /** File name, or path of one that lies elsewhere; null: the CPU computes. */
  readonly gpuLibrary: string | null;
  readonly leftOut: readonly { readonly library: string; readonly reason: string }[];
}

export interface ChooseGpuOptions extends GpuTestOptions {
  /** CUDA's, which is no part of the program; empty: there is none. */
  readonly cudaLibrary?: string;
  /** Which backends come into question, by the names or paths of their files. */
  readonly candidates: (library: string) => boolean;
  /** JSON file that keeps the verdicts; made when missing. */
  readonly verdictsPath: string;
  /** Whether there is anything that a GPU could be reached through. */
  readonly withinReach?: () => boolean;
}

/**
 * Chooses the first backend, CUDA before Vulkan, that hears the same words as the CPU, and sooner. Each is tried in processes of
 * their own, and what is found is kept for this machine, model and library. Where no GPU can be reached, nothing is tried.
 */
export async function chooseGpuLibrary(options: ChooseGpuOptions): Promise<GpuChoice> {
  const libraries = gpuLibraries(options.nativeDirectory, options.cudaLibrary).filter(options.candidates);
  const leftOut: { library: string; reason: string }[] = [];
  if (libraries.length === 0 || !(options.withinReach ?? isGpuWithinReach)()) return { gpuLibrary: null, leftOut };
  const known = readVerdicts(options.verdictsPath);
  for (const library of libraries) {
    const key = await gpuVerdictKey(options, library);
    const kept = known[key];
    if (kept?.state === "works") return { gpuLibrary: library, leftOut };
    if (kept?.state === "failed") {
      leftOut.push({ library, reason: kept.reason });
      continue;
    }
    const trial = await tryGpuLibrary(options, library);
    if (trial.ok || trial.lasting) {
      const [state, reason] = trial.ok ? (["works", ""] as const) : (["failed", trial.reason] as const);
      addVerdicts(options.verdictsPath, { [key]: { library, score: 0, state, reason } });
    }
    if (trial.ok) return { gpuLibrary: library, leftOut };
    leftOut.push({ library, reason: trial.reason });
  }
  return { gpuLibrary: null, leftOut };
}
