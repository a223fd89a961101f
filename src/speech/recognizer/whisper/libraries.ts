import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { NativeAddon } from "./addon.ts";

/** A build of the CPU backend for one kind of CPU. */
export interface CpuLibrary {
  /** File name in the native directory. */
  file: string;
  /** ggml's rating for the CPU at hand; higher is faster. */
  score: number;
}

/** Whether a file of this name is a variant of the CPU backend. */
export function isCpuLibrary(file: string): boolean {
  return /^libggml-cpu-.+\.so$/.test(file);
}

/** The CPU variants of the directory that this CPU can run by ggml's word, best first. */
export function cpuLibraries(addon: NativeAddon, nativeDirectory: string): CpuLibrary[] {
  return readdirSync(nativeDirectory)
    .filter(isCpuLibrary)
    .map((file) => ({ file, score: addon.cpuScore(join(nativeDirectory, file)) }))
    .filter((library) => library.score > 0)
    .sort((a, b) => b.score - a.score || a.file.localeCompare(b.file));
}

/** What drives GPUs. */
export type GpuBackendKind = "cuda" | "vulkan";

/** A build of a GPU backend. */
export interface GpuBackend {
  readonly kind: GpuBackendKind;
  /** File name in the native directory, or the path of one that lies elsewhere. */
  readonly library: string;
}

/** The one that is faster on the same device first. */
const knownGpuBackends: readonly GpuBackend[] = [
  { kind: "cuda", library: "libggml-cuda.so" },
  { kind: "vulkan", library: "libggml-vulkan.so" },
];

/** Whether a file of this name is a GPU backend. */
export function isGpuLibrary(file: string): boolean {
  return knownGpuBackends.some(({ library }) => library === file);
}

/**
 * The GPU backends that there are, the one that is faster on the same device first.
 * @param cudaLibrary CUDA's, which is no part of the program, whatever its file is called; empty: there is none
 */
export function gpuBackends(nativeDirectory: string, cudaLibrary = ""): GpuBackend[] {
  const present = new Set(readdirSync(nativeDirectory));
  return knownGpuBackends.flatMap(({ kind, library }) => {
    if (kind === "cuda" && cudaLibrary !== "") return { kind, library: cudaLibrary };
    return present.has(library) ? { kind, library } : [];
  });
}
