import { readdirSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { renewal } from "../program/index.ts";
import { messageOf } from "../text/index.ts";
import type { Instructions } from "./instructions.ts";

/** File name of the native addon, which is built from native/src. */
export const addonFile = "whisper.node";

/** The part of the native addon that all model families share. Each family declares the classes that it uses. */
export interface GgmlAddon {
  version: string;
  /**
   * Returns whether a library's backend was built with the addon's own ggml. @throws {Error} when it cannot be opened
   */
  checkBackend(path: string): boolean;
  /** Registers the backend of a library. @throws {Error} when it is unusable on this machine or finds no device */
  loadBackend(path: string): void;
  /** Returns how well a CPU variant suits this CPU; 0: it must not be used on it. */
  cpuScore(path: string): number;
  /** Returns the name of the kind of instructions that our own kernels use; "none" before a CPU variant is loaded. */
  instructions(): Instructions;
  devices(): ComputeDevice[];
}

export const computeDeviceSchema = Type.Object({
  name: Type.String(),
  description: Type.String(),
  /** The ggml backend that drives the device: CPU, Vulkan, CUDA. */
  backend: Type.String(),
  kind: Type.Union([Type.Literal("cpu"), Type.Literal("gpu"), Type.Literal("igpu"), Type.Literal("accelerator")]),
  /** PCI bus address, e.g. `0000:01:00.0`; empty when the backend does not know it. */
  address: Type.String(),
  memoryFreeBytes: Type.Number(),
  memoryTotalBytes: Type.Number(),
});
/** A device that ggml can compute on. */
export type ComputeDevice = Static<typeof computeDeviceSchema>;

export const unusableBackendSchema = Type.Object({
  /** File name, such as libggml-vulkan.so. */
  library: Type.String(),
  reason: Type.String(),
});
/** A GPU backend that this machine cannot use because a driver, a library or a device is missing. */
export type UnusableBackend = Static<typeof unusableBackendSchema>;

/** ggml with its backends, loaded into this process. */
export interface GgmlRuntime {
  readonly addon: GgmlAddon;
  devices(): ComputeDevice[];
  gpus(): ComputeDevice[];
  readonly unusable: readonly UnusableBackend[];
  /** File name of the CPU variant in use, such as libggml-cpu-zen4.so. */
  readonly cpuLibrary: string;
}

export interface LoadGgmlOptions {
  /** Directory of the addon and its libraries. */
  nativeDirectory: string;
  /** File name of the CPU variant; the best one for this CPU by default. */
  cpuLibrary?: string;
  /** GPU backends to load: file names in the directory or paths of others; by default all in the directory. */
  gpu?: readonly string[];
}

/** ggml's backends are global to the process, so there is one runtime for each process too. */
let loaded: { key: string; runtime: GgmlRuntime } | undefined;

/**
 * Loads the addon and its backends into this process, once. @throws {Error} when the directory has no addon for this
 * machine, when the variant cannot run here, or when the process has already loaded it with other options
 */
export function loadGgml(options: LoadGgmlOptions): GgmlRuntime {
  const key = JSON.stringify([options.nativeDirectory, options.cpuLibrary ?? "best", options.gpu ?? "all"]);
  if (loaded !== undefined) {
    if (loaded.key !== key) {
      throw new Error("the addon is loaded already with other options; use another process for these");
    }
    return loaded.runtime;
  }
  const runtime = createRuntime(options);
  loaded = { key, runtime };
  return runtime;
}

/**
 * Returns ggml's rating of a variant for this CPU, 0 if it cannot run here. Opening the library may crash the process.
 */
export function rateCpuLibrary(nativeDirectory: string, cpuLibrary: string): number {
  return openAddon(nativeDirectory).cpuScore(join(nativeDirectory, cpuLibrary));
}

function createRuntime(options: LoadGgmlOptions): GgmlRuntime {
  const addon = openAddon(options.nativeDirectory);
  const cpuLibrary = options.cpuLibrary ?? cpuLibraries(addon, options.nativeDirectory)[0]?.file;
  if (cpuLibrary === undefined) {
    throw new Error(`${options.nativeDirectory} holds no CPU backend for this machine; ${renewal}`);
  }
  const { gpu = gpuBackends(options.nativeDirectory).map(({ library }) => library) } = options;
  const unusable = gpu.flatMap((library) => {
    const reason = loadGpuBackend(addon, options.nativeDirectory, library);
    return reason === null ? [] : { library, reason };
  });
  addon.loadBackend(join(options.nativeDirectory, cpuLibrary));
  const devices = () => addon.devices();
  const gpus = () => devices().filter(({ kind }) => kind === "gpu" || kind === "igpu");
  return { addon, devices, gpus, unusable, cpuLibrary };
}

function openAddon(nativeDirectory: string): GgmlAddon {
  const path = join(nativeDirectory, addonFile);
  const module: { exports: Partial<GgmlAddon> } = { exports: {} };
  try {
    process.dlopen(module, path);
  } catch (error) {
    const reason = messageOf(error);
    throw new Error(
      `cannot load the addon ${path}: ${reason}; ${renewal}, and check that the directory is not mounted noexec`,
    );
  }
  // The addon is ours and built together with its types.
  return module.exports as GgmlAddon;
}

/** Hints where to get the system libraries that a backend may lack. */
const sources: readonly (readonly [library: RegExp, source: string])[] = [
  [/^libcuda\./, "it is part of NVIDIA's driver, and has to be handed into a container"],
  [/^libcu/, "put it beside the backend, as docs/gpu.md says"],
  [/^libvulkan\./, "install the Vulkan loader (Debian: libvulkan1)"],
];

/**
 * Loads a GPU backend, which needs the vendor's libraries, a driver and a device. @returns why it is unusable, or null
 * @param library file name in the directory, or the path of a library elsewhere, which may be of another build
 */
export function loadGpuBackend(
  addon: Pick<GgmlAddon, "checkBackend" | "loadBackend">,
  nativeDirectory: string,
  library: string,
): string | null {
  const path = resolve(nativeDirectory, library);
  try {
    if (isAbsolute(library) && !addon.checkBackend(path)) {
      return "it belongs to another build: make it with scripts/build --cuda of the same release";
    }
    addon.loadBackend(path);
    return null;
  } catch (error) {
    return withSource(path, messageOf(error));
  }
}

/** Adds a hint where to get the missing library, when the error message names one. */
function withSource(path: string, message: string): string {
  const missing = /(\S+): cannot open shared object file: No such file or directory/.exec(message)?.[1];
  if (missing === undefined) return message;
  if (missing === path) return "the file does not exist";
  const source = sources.find(([library]) => library.test(missing))?.[1];
  return `it needs ${missing}, which this machine lacks${source === undefined ? "" : `: ${source}`}`;
}

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
 * Lists the available GPU backends, fastest first on the same device.
 * @param cudaLibrary path of the CUDA backend, which is not part of the program; empty: there is none
 */
export function gpuBackends(nativeDirectory: string, cudaLibrary = ""): GpuBackend[] {
  const present = new Set(readdirSync(nativeDirectory));
  return knownGpuBackends.flatMap(({ kind, library }) => {
    if (kind === "cuda" && cudaLibrary !== "") return { kind, library: cudaLibrary };
    return present.has(library) ? { kind, library } : [];
  });
}
