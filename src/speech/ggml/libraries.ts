import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { GgmlAddon } from "./runtime.ts";

/** A build of the CPU backend for one kind of CPU. */
export interface CpuLibrary {
  /** File name in the native directory. */
  file: string;
  /** ggml's rating for this CPU; higher is faster. */
  score: number;
}

/** Returns whether a file of this name is a variant of the CPU backend. */
export function isCpuLibrary(file: string): boolean {
  return /^libggml-cpu-.+\.so$/.test(file);
}

/** Lists the directory's CPU variants that can run on this CPU according to ggml, best first. */
export function cpuLibraries(addon: GgmlAddon, nativeDirectory: string): CpuLibrary[] {
  return readdirSync(nativeDirectory)
    .filter(isCpuLibrary)
    .map((file) => ({ file, score: addon.cpuScore(join(nativeDirectory, file)) }))
    .filter((library) => library.score > 0)
    .sort((a, b) => b.score - a.score || a.file.localeCompare(b.file));
}

/** The API that a GPU backend uses. */
export type GpuBackendKind = "cuda" | "vulkan";

/** A build of a GPU backend. */
export interface GpuBackend {
  readonly kind: GpuBackendKind;
  /** File name in the native directory, or the path when it lies in another directory. */
  readonly library: string;
}

/** In order of speed on the same device, fastest first. */
const knownGpuBackends: readonly GpuBackend[] = [
  { kind: "cuda", library: "libggml-cuda.so" },
  { kind: "vulkan", library: "libggml-vulkan.so" },
];

/** Returns whether a file of this name is a GPU backend. */
export function isGpuLibrary(file: string): boolean {
  return knownGpuBackends.some(({ library }) => library === file);
}

/**
 * Lists the available GPU backends in order of speed on the same device, fastest first.
 * @param cudaLibrary path of the CUDA backend, which is not part of the program; any file name; empty: there is none
 */
export function gpuBackends(nativeDirectory: string, cudaLibrary = ""): GpuBackend[] {
  const present = new Set(readdirSync(nativeDirectory));
  return knownGpuBackends.flatMap(({ kind, library }) => {
    if (kind === "cuda" && cudaLibrary !== "") return { kind, library: cudaLibrary };
    return present.has(library) ? { kind, library } : [];
  });
}
