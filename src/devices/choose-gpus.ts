import { stat } from "node:fs/promises";
import { type GpuBackend, type GpuBackendKind, gpuBackends } from "../runtimes/index.ts";
import { messageOf } from "../text/index.ts";
import { isGpuWithinReach } from "./gpu-presence.ts";
import { GpuTester, type GpuTestOptions, gpuBackendDigest } from "./gpu-self-test.ts";
import { listGpus, NoGpuError } from "./list-gpus.ts";
import { failed } from "./run-self-test.ts";
import {
  addVerdicts,
  type FoundGpu,
  failureVerdict,
  readGpus,
  readVerdicts,
  storeGpus,
  type Verdict,
  verdictKey,
} from "./verdicts.ts";

/** GPUs for the recognizer, and the backends and GPUs that are not usable. */
export interface GpuChoice {
  /** GPUs to use; empty if the CPU is used. */
  readonly gpus: readonly FoundGpu[];
  readonly leftOut: readonly {
    readonly library: string;
    /** The GPU's label; undefined if the whole backend is not usable. */
    readonly gpu?: string;
    readonly reason: string;
  }[];
}

export interface ChooseGpusOptions extends GpuTestOptions {
  /** Library of the CUDA backend, which is not part of the program; empty if there is none. */
  readonly cudaLibrary?: string;
  /** Returns whether a backend may be used. */
  readonly backends: (kind: GpuBackendKind) => boolean;
  /** Returns whether a GPU may be used, by its label. */
  readonly allows: (label: string) => boolean;
  /** JSON file that stores the verdicts; created if missing. */
  readonly verdictsPath: string;
  /** Returns whether this process can reach any GPU. */
  readonly withinReach?: () => boolean;
  /** Environment whose variables may select GPUs; this process's environment by default. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Chooses the GPUs whose transcript matches the CPU's and, with `mustBeFaster`, that are faster, each with the first
 * backend that passes. Tests in separate processes and stores the results. Tests nothing if no GPU can be reached.
 */
export async function chooseGpus(options: ChooseGpusOptions): Promise<GpuChoice> {
  const backends = gpuBackends(options.nativeDirectory, options.cudaLibrary).filter(({ kind }) =>
    options.backends(kind),
  );
  const gpus: FoundGpu[] = [];
  const leftOut: GpuChoice["leftOut"][number][] = [];
  if (!(options.withinReach ?? isGpuWithinReach)()) {
    // A user who installs the CUDA backend expects a GPU and needs the reason; otherwise there is nothing to report.
    const asked = backends.filter(({ library }) => library === options.cudaLibrary);
    const reason = "no GPU can be reached here: /dev has none";
    return { gpus, leftOut: asked.map(({ library }) => ({ library, reason })) };
  }
  const tester = new GpuTester(options);
  for (const backend of backends) {
    const { library } = backend;
    const digest = await gpuBackendDigest(options, library, options.environment);
    const found = await findGpus(options, backend, digest).catch((error) => {
      options.signal?.throwIfAborted();
      leftOut.push({ library, reason: messageOf(error) });
      return [];
    });
    // Skip a GPU that an earlier backend already uses.
    const left = found.filter((gpu) => options.allows(gpu.label) && !gpus.some((other) => areSame(gpu, other)));
    for (const gpu of left) {
      const fault = await faultOf(options, gpu, digest, tester);
      if (fault === null) gpus.push(gpu);
      else leftOut.push({ library, gpu: gpu.label, reason: fault });
    }
  }
  return { gpus, leftOut };
}

/** @throws {NoGpuError} if the backend finds no GPU; the signal's reason if it is aborted */
async function findGpus(options: ChooseGpusOptions, backend: GpuBackend, digest: string): Promise<readonly FoundGpu[]> {
  const { verdictsPath } = options;
  const stored = readGpus(verdictsPath, digest);
  if (stored !== undefined) return stored;
  const verdict = readVerdicts(verdictsPath)[digest];
  if (verdict !== undefined) throw new NoGpuError(failed(verdict.reason));
  try {
    const found = await listGpus(options, backend, options.environment);
    storeGpus(verdictsPath, digest, found);
    return found;
  } catch (error) {
    const failure = error instanceof NoGpuError ? failureVerdict(backend.library, error.failure) : null;
    if (failure !== null) addVerdicts(verdictsPath, { [digest]: failure });
    throw error;
  }
}

/**
 * Returns the reason why a GPU is not used, by the stored verdict or else by the self-test; null if the GPU is used.
 * @param digest identity of the backend and the machine's GPUs
 */
async function faultOf(
  { verdictsPath, speechModel, mustBeFaster }: ChooseGpusOptions,
  gpu: FoundGpu,
  digest: string,
  tester: GpuTester,
): Promise<string | null> {
  const { size, mtimeMs } = await stat(speechModel);
  const key = verdictKey([digest, gpu, speechModel, size, mtimeMs, mustBeFaster]);
  const stored = readVerdicts(verdictsPath)[key];
  if (stored !== undefined) return stored.state === "works" ? null : stored.reason;
  const result = await tester.test(gpu);
  const { library } = gpu;
  const works: Verdict = { library, score: 0, state: "works", reason: "" };
  const verdict = result.ok ? works : failureVerdict(library, result);
  if (verdict !== null) addVerdicts(verdictsPath, { [key]: verdict });
  return result.ok ? null : result.reason;
}

/** Returns whether two backends found the same card. Compares names if a PCI bus address is unknown. */
function areSame(gpu: FoundGpu, other: FoundGpu): boolean {
  if (gpu.library === other.library) return false;
  return gpu.address !== "" && other.address !== "" ? gpu.address === other.address : gpu.name === other.name;
}
