import { messageOf } from "../../text/index.ts";
import { type GpuBackend, type GpuBackendKind, gpuBackends } from "../recognizer/whisper/index.ts";
import { isGpuWithinReach } from "./gpu-presence.ts";
import { GpuTester, type GpuTestOptions, gpuBackendDigest, gpuVerdictKey } from "./gpu-self-test.ts";
import { faultOf } from "./gpu-trial.ts";
import { listGpus, NoGpuError } from "./list-gpus.ts";
import { addVerdicts, type FoundGpu, failureVerdict, keepGpus, readGpus, readVerdicts } from "./verdicts.ts";

/** What whisper computes on, and what is of no use here. */
export interface GpuChoice {
  /** Empty: the CPU computes. */
  readonly gpus: readonly FoundGpu[];
  readonly leftOut: readonly {
    readonly library: string;
    /** The GPU's label; missing where the backend as a whole is left out. */
    readonly gpu?: string;
    readonly reason: string;
  }[];
}

export interface ChooseGpusOptions extends GpuTestOptions {
  /** The library of CUDA's backend, which is no part of the program; empty: there is none. */
  readonly cudaLibrary?: string;
  /** Whether a backend may be used. */
  readonly backends: (kind: GpuBackendKind) => boolean;
  /** Whether a GPU may be used, by its label. */
  readonly allows: (label: string) => boolean;
  /** JSON file that keeps the verdicts; made when missing. */
  readonly verdictsPath: string;
  /** Whether this process can reach a GPU at all. */
  readonly withinReach?: () => boolean;
  /** The environment whose variables may choose among several GPUs; this process's by default. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Chooses the GPUs that hear the same words as the CPU in less time. Each is used with the first backend with which it does,
 * CUDA before Vulkan. Each is tried in processes of its own, and what is found is kept for this machine, model and library.
 * Where no GPU can be reached, nothing is tried.
 */
export async function chooseGpus(options: ChooseGpusOptions): Promise<GpuChoice> {
  const backends = gpuBackends(options.nativeDirectory, options.cudaLibrary).filter(({ kind }) =>
    options.backends(kind),
  );
  const gpus: FoundGpu[] = [];
  const leftOut: GpuChoice["leftOut"][number][] = [];
  if (!(options.withinReach ?? isGpuWithinReach)()) {
    // Whoever brings CUDA's backend counts on a GPU; without it there is nothing to tell.
    const asked = backends.filter(({ library }) => library === options.cudaLibrary);
    const reason = "no GPU can be reached here: /dev has none";
    return { gpus, leftOut: asked.map(({ library }) => ({ library, reason })) };
  }
  const tester = new GpuTester(options);
  for (const backend of backends) {
    const { library } = backend;
    const digest = await gpuBackendDigest(options, library, options.environment);
    const found = await find(options, backend, digest).catch((error) => {
      options.signal?.throwIfAborted();
      leftOut.push({ library, reason: messageOf(error) });
      return [];
    });
    // A GPU that an earlier backend drives already is passed over.
    const left = found.filter((gpu) => options.allows(gpu.label) && !gpus.some((other) => areSame(gpu, other)));
    for (const gpu of left) {
      const key = await gpuVerdictKey(options, gpu, digest);
      const fault = await faultOf(options.verdictsPath, key, library, () => tester.try(gpu));
      if (fault === null) gpus.push(gpu);
      else leftOut.push({ library, gpu: gpu.label, reason: fault });
    }
  }
  return { gpus, leftOut };
}

/** @throws {NoGpuError} @throws the signal's reason */
async function find(options: ChooseGpusOptions, backend: GpuBackend, digest: string): Promise<readonly FoundGpu[]> {
  const { verdictsPath } = options;
  const kept = readGpus(verdictsPath, digest);
  if (kept !== undefined) return kept;
  const verdict = readVerdicts(verdictsPath)[digest];
  if (verdict !== undefined) throw new NoGpuError(verdict.reason);
  try {
    const found = await listGpus(options, backend, options.environment);
    keepGpus(verdictsPath, digest, found);
    return found;
  } catch (error) {
    const failure = error instanceof NoGpuError ? failureVerdict(backend.library, error.failure) : null;
    if (failure !== null) addVerdicts(verdictsPath, { [digest]: failure });
    throw error;
  }
}

/** Whether what two backends found is the same card. Where its address on the bus is not known, the name decides. */
function areSame(gpu: FoundGpu, other: FoundGpu): boolean {
  if (gpu.library === other.library) return false;
  return gpu.address !== "" && other.address !== "" ? gpu.address === other.address : gpu.name === other.name;
}
