import { constants, existsSync } from "node:fs";
import { findRunningServer } from "../../api-contract/index.ts";
import { readDatabase, type Store } from "../../database/index.ts";
import { describeKernels, surveyCpuLibraries } from "../../devices/index.ts";
import type { ProgramFiles } from "../../program/index.ts";
import { type GpuBackend, gpuBackends } from "../../runtimes/index.ts";
import { openProgramParts, readSpeechModels } from "../../server/index.ts";
import { DataPaths, isStandby } from "../../storage/index.ts";
import { messageOf } from "../../text/index.ts";
import { type CheckContext, type DoctorOptions, oncePerRun } from "./check.ts";
import { isAllowed, thisMachine } from "./machine.ts";

/** Collects the data for the checks. The caller closes the context when all checks have finished. */
export async function openContext(options: DoctorOptions): Promise<CheckContext & { close(): void }> {
  const { settings } = options;
  const paths = new DataPaths(settings.storage.data_dir);
  const data = accessTo(paths.root);
  const { files, arePresent: filesArePresent, close: closeParts } = await openProgramParts(settings);
  // The database of a standby changes without SQLite's locks.
  const isReadable = data === "present" && existsSync(paths.databasePath) && !isStandby(paths);
  const database = isReadable ? openDatabase(paths.databasePath) : null;
  const store = database instanceof Error ? null : database;
  const speechModels =
    files instanceof Error ? null : readSpeechModels(settings, { files, dataDirectory: paths, database: store });
  return {
    ...options,
    ...{ paths, data, files, filesArePresent, database },
    server: data === "present" ? await findRunningServer(paths) : null,
    speechModels,
    speechModel: speechModels?.current() ?? null,
    machine: thisMachine(options.signal),
    close() {
      store?.$client.close();
      closeParts();
    },
  };
}

function accessTo(root: string): CheckContext["data"] {
  if (!existsSync(root)) return "missing";
  return isAllowed(root, constants.R_OK | constants.X_OK) ? "present" : "unreadable";
}

function openDatabase(path: string): Store | Error {
  try {
    return readDatabase(path);
  } catch (error) {
    return new Error(messageOf(error));
  }
}

/** Returns the parts of the program. @throws the reason why they are not available, which `program.files` reports */
export function filesOf({ files }: CheckContext): ProgramFiles {
  if (files instanceof Error) throw files;
  return files;
}

/** Returns the path of the speech model for new recordings; if its file is missing, that of the built-in model. */
export function speechModelOf(context: CheckContext): string {
  const path = context.speechModel?.path;
  return path !== undefined && existsSync(path) ? path : filesOf(context).speechModel;
}

/** Returns the GPU backends of the program and the one in the settings. @throws as filesOf */
export function gpuBackendsOf(context: CheckContext): GpuBackend[] {
  return gpuBackends(filesOf(context).nativeDirectory, context.settings.engine.cuda_library);
}

/** Tests the variants of the CPU backend on this machine, once for all checks of a run. */
export const cpuSurvey = oncePerRun((context) =>
  surveyCpuLibraries({
    nativeDirectory: filesOf(context).nativeDirectory,
    speechModel: speechModelOf(context),
    verdictsPath: context.paths.verdicts,
    cpuVariant: context.settings.engine.cpu_variant,
    all: context.all,
    signal: context.signal,
  }),
);

/** Describes how the CPU computes; null if no variant of the CPU backend works. */
export async function kernelsInUse(context: CheckContext) {
  const { used, variants } = await cpuSurvey(context);
  const test = variants.find(({ library }) => library === used)?.test;
  if (used === null || test?.ok !== true) return null;
  const { nativeDirectory, onnxBinding } = filesOf(context);
  return await describeKernels({
    ...{ nativeDirectory, onnxBinding, cpuLibrary: used, instructions: test.instructions },
    speechModel: speechModelOf(context),
    verdictsPath: context.paths.verdicts,
    cpuVariant: context.settings.engine.cpu_variant,
    cpuinfo: context.machine.read("/proc/cpuinfo") ?? "",
  });
}
