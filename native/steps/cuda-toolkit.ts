import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { runTool } from "./tools.ts";

/** NVIDIA's compiler, and what it is of. */
export interface CudaToolkit {
  readonly nvcc: string;
  readonly version: CudaVersion;
  /** All that nvcc says of itself. */
  readonly description: string;
}

export interface CudaVersion {
  readonly major: number;
  readonly minor: number;
}

/** The first that knows the GPUs of 2025, and the first whose cuBLAS is known here. */
const oldest: CudaVersion = { major: 12, minor: 8 };

/**
 * Finds nvcc: on PATH, else where NVIDIA's packages put it, which is not there; of several the newest.
 * @param roots folders that toolkits are installed in
 * @throws Error that says what to install
 */
export async function findCudaToolkit(
  which: (program: string) => string | null = Bun.which,
  roots: readonly string[] = ["/usr/local", "/opt"],
): Promise<CudaToolkit> {
  const nvcc = which("nvcc") ?? roots.flatMap(installedIn)[0];
  const install = "install NVIDIA's CUDA toolkit, 12.8 or later";
  if (nvcc === undefined) throw new Error(`cannot build the CUDA backend without nvcc: ${install}`);
  const description = await runTool([nvcc, "--version"], () => {});
  const [, major, minor] = /\brelease (\d+)\.(\d+)/.exec(description) ?? [];
  if (major === undefined || minor === undefined) throw new Error(`${nvcc} does not say its version: ${install}`);
  const version = { major: Number(major), minor: Number(minor) };
  if (isNewer(oldest, version)) {
    throw new Error(`${nvcc} is of CUDA ${major}.${minor}, too old for the CUDA backend: ${install}`);
  }
  return { nvcc, version, description };
}

/** Whether a version comes after another. */
export function isNewer(one: CudaVersion, other: CudaVersion): boolean {
  return one.major > other.major || (one.major === other.major && one.minor > other.minor);
}

/** Those that are installed, the one that the system's link names first, then the newest. */
function installedIn(root: string): string[] {
  const names = existsSync(root) ? readdirSync(root).filter((name) => /^cuda(?:-\d+\.\d+)?$/.test(name)) : [];
  const newestFirst = names.sort((a, b) => -a.localeCompare(b, "en", { numeric: true }));
  const linked = newestFirst.filter((name) => name === "cuda");
  return [...linked, ...newestFirst.filter((name) => name !== "cuda")]
    .map((name) => join(root, name, "bin", "nvcc"))
    .filter((path) => existsSync(path));
}
