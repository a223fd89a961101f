import { messageOf } from "../../wording/index.ts";
import { type GpuBackend, type GpuBackendKind, gpuBackends } from "../whisper/index.ts";
import { isGpuWithinReach } from "./gpu-presence.ts";
import { GpuTester, type GpuTestOptions, gpuBackendDigest, gpuVerdictKey } from "./gpu-self-test.ts";
import { listGpus, NoGpuError } from "./list-gpus.ts";
import {
  addVerdicts,
  type FoundGpu,
  failureVerdict,
  keepGpus,
  readGpus,
  readVerdicts,
  type Verdict,
} from "./verdicts.ts";

/** What whisper computes on, and what is of no use here. */
export interface GpuChoice {
  /** None: the CPU computes. */
  readonly gpus: readonly FoundGpu[];
  readonly leftOut: readonly {
    readonly library: string;
    /** Its label; missing where it is the backend as a whole. */
    readonly gpu?: string;
    readonly reason: string;
  }[];
}

export interface ChooseGpusOptions extends GpuTestOptions {
  /** CUDA's, which is no part of the program; empty: there is none. */
  readonly cudaLibrary?: string;
  /** Which backends come into question. */
  readonly backends: (kind: GpuBackendKind) => boolean;
  /** Which GPUs do, by their labels. */
  readonly allows: (label: string) => boolean;
  /** JSON file that keeps the verdicts; made when missing. */
  readonly verdictsPath: string;
  /** Whether there is anything that a GPU could be reached through. */
  readonly withinReach?: () => boolean;
  /** Variables that name some of several GPUs; this process's by default. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Chooses the GPUs that hear the same words as the CPU, and sooner, each by the first backend that it does so with, CUDA
 * before Vulkan. Each is tried in processes of its own, and what is found is kept for this machine, model and library. Where
 * no GPU can be reached, nothing is tried.
 */
export async function chooseGpus(options: ChooseGpusOptions): Promise<GpuChoice> {
  const backends = gpuBackends(options.nativeDirectory, options.cudaLibrary).filter(({ kind }) =>
    options.backends(kind),
  );
  const gpus: FoundGpu[] = [];
  const leftOut: GpuChoice["leftOut"][number][] = [];
  if (backends.length === 0 || !(options.withinReach ?? isGpuWithinReach)()) return { gpus, leftOut };
  const tester = new GpuTester(options);
  for (const backend of backends) {
    const { library } = backend;
    const digest = await gpuBackendDigest(options, library, options.environment);
    const found = await find(options, backend, digest).catch((error) => {
      options.signal?.throwIfAborted();
      leftOut.push({ library, reason: messageOf(error) });
      return [];
    });
    // What an earlier backend drives already is passed over.
    const left = found.filter((gpu) => options.allows(gpu.label) && !gpus.some((other) => areSame(gpu, other)));
    for (const gpu of left) {
      const fault = await faultOf(options, tester, gpu, digest);
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

/** Why a GPU is not used; null: it is. */
async function faultOf(
  options: ChooseGpusOptions,
  tester: GpuTester,
  gpu: FoundGpu,
  digest: string,
): Promise<string | null> {
  const key = await gpuVerdictKey(options, gpu, digest);
  const kept = readVerdicts(options.verdictsPath)[key];
  if (kept !== undefined) return kept.state === "works" ? null : kept.reason;
  const trial = await tester.try(gpu);
  const { library } = gpu;
  const verdict: Verdict | null = trial.ok
    ? { library, score: 0, state: "works", reason: "" }
    : failureVerdict(library, trial);
  if (verdict !== null) addVerdicts(options.verdictsPath, { [key]: verdict });
  return trial.ok ? null : trial.reason;
}

/** Whether two backends mean the same card. Where the bus tells nothing, it is taken for the same by its name. */
function areSame(gpu: FoundGpu, other: FoundGpu): boolean {
  if (gpu.library === other.library) return false;
  return gpu.address !== "" && other.address !== "" ? gpu.address === other.address : gpu.name === other.name;
}
