import { join } from "node:path";
import { renewal } from "../../../program/index.ts";
import { messageOf } from "../../../text/index.ts";
import type { NativeAddon } from "./addon.ts";
import { cpuLibraries, gpuBackends } from "./libraries.ts";
import { loadGpuBackend } from "./load-gpu-backend.ts";
import { createModel } from "./model.ts";
import { validateModelFile } from "./model-file/index.ts";
import { alignmentHeads, modelHeader } from "./model-header.ts";
import type { OpenModelOptions, WhisperModel, WhisperRuntime } from "./types.ts";

export interface LoadWhisperOptions {
  /** Directory of whisper.node and its libraries. */
  nativeDirectory: string;
  /** File name of the CPU variant; the best one for this CPU by default. */
  cpuLibrary?: string;
  /** GPU backends to load: file names in the directory or paths of others; by default all in the directory. */
  gpu?: readonly string[];
}

/** ggml's backends are global to the process, so there is one runtime for each process too. */
let loaded: { key: string; runtime: WhisperRuntime } | undefined;

/**
 * Loads the addon and its backends into this process, once.
 * @throws {Error} when the directory has no addon for this machine, or the variant cannot run here
 * @throws {Error} when the process has already loaded whisper with other options
 */
export function loadWhisper(options: LoadWhisperOptions): WhisperRuntime {
  const key = JSON.stringify([options.nativeDirectory, options.cpuLibrary ?? "best", options.gpu ?? "all"]);
  if (loaded !== undefined) {
    if (loaded.key !== key) {
      throw new Error("whisper is loaded already with other options; use another process for these");
    }
    return loaded.runtime;
  }
  const runtime = createRuntime(options);
  loaded = { key, runtime };
  return runtime;
}

/**
 * Returns ggml's rating of a variant for this CPU, 0 if it cannot run here. Opens the library, which may crash the
 * process.
 */
export function rateCpuLibrary(nativeDirectory: string, cpuLibrary: string): number {
  return openAddon(nativeDirectory).cpuScore(join(nativeDirectory, cpuLibrary));
}

function createRuntime(options: LoadWhisperOptions): WhisperRuntime {
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
  return {
    version: addon.version,
    devices: () => addon.devices(),
    encoderForm: () => addon.encoderForm(),
    unusable,
    cpuVariant: () => cpuLibrary,
    openModel: (path, modelOptions) => openModel(addon, path, modelOptions),
  };
}

function openAddon(nativeDirectory: string): NativeAddon {
  const path = join(nativeDirectory, "whisper.node");
  const module: { exports: Partial<NativeAddon> } = { exports: {} };
  try {
    process.dlopen(module, path);
  } catch (error) {
    const reason = messageOf(error);
    throw new Error(
      `cannot load the whisper addon ${path}: ${reason}; ${renewal}, and check that the directory is not mounted noexec`,
    );
  }
  // The addon is ours and built together with its types.
  return module.exports as NativeAddon;
}

function openModel(addon: NativeAddon, path: string, options: OpenModelOptions): WhisperModel {
  const header = modelHeader(validateModelFile(path));
  const heads = options.wordTimes ? alignmentHeads(header) : { alignmentHeads: 0, alignmentLayers: -1 };
  try {
    const native = new addon.Model(path, { useGpu: options.useGpu, flashAttention: options.flashAttention, ...heads });
    return createModel({ addon, native, header, wordTimes: options.wordTimes });
  } catch (error) {
    const reason = messageOf(error);
    throw new Error(
      `cannot load the whisper model ${path}: ${reason}. ` +
        'Check the file with "transcribe models verify"; if it is whole, free memory or choose a smaller model',
    );
  }
}
