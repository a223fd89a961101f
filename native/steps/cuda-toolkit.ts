import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { runTool } from "./tools.ts";

/** An installed CUDA toolkit, with NVIDIA's compiler nvcc. */
export interface CudaToolkit {
  /** Path of nvcc. */
  readonly nvcc: string;
  readonly version: CudaVersion;
  /** The output of `nvcc --version`; part of the cache key. */
  readonly description: string;
}

export interface CudaVersion {
  readonly major: number;
  readonly minor: number;
}

/** The first CUDA version that supports the GPUs of 2025, and the first with a pinned cuBLAS. */
const OLDEST_CUDA: CudaVersion = { major: 12, minor: 8 };

/**
 * Finds nvcc on PATH, or else in the folders of NVIDIA's packages, which are not on PATH. There, the toolkit that the
 * link `cuda` names comes first, then the newest.
 * @param roots folders that contain toolkits
 * @throws {Error} with the version to install when nvcc is missing or too old
 */
export async function findCudaToolkit(
  which: (program: string) => string | null = Bun.which,
  roots: readonly string[] = ["/usr/local", "/opt"],
): Promise<CudaToolkit> {
  const nvcc = which("nvcc") ?? roots.flatMap(installedCompilers)[0];
  const install = "install NVIDIA's CUDA toolkit, 12.8 or later";
  if (nvcc === undefined) throw new Error(`cannot build the CUDA backend without nvcc: ${install}`);
  const description = await runTool([nvcc, "--version"], () => {});
  const [, major, minor] = /\brelease (\d+)\.(\d+)/.exec(description) ?? [];
  if (major === undefined || minor === undefined) throw new Error(`${nvcc} does not print its version: ${install}`);
  const version = { major: Number(major), minor: Number(minor) };
  if (isNewer(OLDEST_CUDA, version)) {
    throw new Error(`${nvcc} is of CUDA ${major}.${minor}, too old for the CUDA backend: ${install}`);
  }
  return { nvcc, version, description };
}

/** Returns whether version `a` is newer than version `b`. */
export function isNewer(a: CudaVersion, b: CudaVersion): boolean {
  return a.major > b.major || (a.major === b.major && a.minor > b.minor);
}

/** Returns every nvcc below a folder: the one of the system's link `cuda` first, then the newest. */
function installedCompilers(root: string): string[] {
  const names = existsSync(root) ? readdirSync(root).filter((name) => /^cuda(?:-\d+\.\d+)?$/.test(name)) : [];
  const newestFirst = names.sort((a, b) => -a.localeCompare(b, "en", { numeric: true }));
  const linked = newestFirst.filter((name) => name === "cuda");
  return [...linked, ...newestFirst.filter((name) => name !== "cuda")]
    .map((name) => join(root, name, "bin", "nvcc"))
    .filter((path) => existsSync(path));
}
