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

/** The one that is faster on the same device first. */
const knownGpuLibraries: readonly string[] = ["libggml-cuda.so", "libggml-vulkan.so"];

/** Whether a file of this name is a GPU backend. */
export function isGpuLibrary(file: string): boolean {
  return knownGpuLibraries.includes(file);
}

/**
 * The GPU backends that there are, the one that is faster on the same device first: file names of the directory, and the path of
 * one that lies elsewhere.
 * @param cudaLibrary CUDA's, which is no part of the program; empty: there is none
 */
export function gpuLibraries(nativeDirectory: string, cudaLibrary = ""): string[] {
  const present = new Set(readdirSync(nativeDirectory));
  const own = knownGpuLibraries.filter((file) => present.has(file));
  return cudaLibrary === "" ? own : [cudaLibrary, ...own];
}
