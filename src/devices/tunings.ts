import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { WorkerStart } from "../operations/index.ts";
import { programVersion } from "../program/index.ts";
import { cpuIdentity } from "./cpu-libraries.ts";
import { gpuIdentity } from "./gpu-presence.ts";
import { bestShares, type LaneSpeed, slotsOf, type Tuning, UNMEASURED_GPU_LANES } from "./lane-shares.ts";
import { readDevices, updateDevices, verdictKey } from "./verdicts.ts";

/** A device and a model, whose lanes are measured. */
export interface TunedDevice {
  /** Settings with which a worker of this device starts. */
  readonly start: WorkerStart;
  /** CPU threads that all operations of all devices share. */
  readonly threads: number;
}

/** The parts of a device on which its speed depends, next to the machine. */
type DeviceParts = Pick<Tuning, "name" | "library" | "model" | "threads" | "version">;

/** Label and name of the device without a GPU. */
const CPU = "CPU";

/** Version of the measurement; increase it with every change of what is measured. */
const TUNING_VERSION = 2;

/** Returns the stored tuning of a device; one without measurements if there is none. */
export function readTuning(verdictsPath: string, { start, threads }: TunedDevice): Tuning {
  const { gpu, cpuLibrary: library, speechModel: model } = start;
  const device = gpu === undefined ? { device: CPU, name: CPU, library } : { ...gpu, device: gpu.label };
  const parts = { device: device.device, name: device.name, library: device.library, model, threads };
  const none: Tuning = { ...parts, version: programVersion, measured: [], isComplete: false, measuredAt: 0 };
  const stored = readDevices(verdictsPath).tunings?.[keyOf(none)] ?? none;
  if (stored.trying === undefined) return stored;
  const { trying, ...rest } = stored;
  const failure = { ...trying, reason: "the program or the machine ended during the measurement" };
  if (slotsOf(trying) > 1) return { failedSlots: failure, ...rest };
  // A server runs as many without a measurement, so that a kill from outside is a more likely cause.
  if (trying.lanes <= UNMEASURED_GPU_LANES) return rest;
  return { failed: failure, ...rest };
}

/** Stores a tuning, and removes those of other versions of the program. */
export function storeTuning(verdictsPath: string, tuning: Tuning): void {
  updateDevices(verdictsPath, (content) => {
    const current = Object.entries(content.tunings ?? {}).filter(([, { version }]) => version === programVersion);
    return { ...content, tunings: { ...Object.fromEntries(current), [keyOf(tuning)]: tuning } };
  });
}

/** Returns the stored tunings that hold for this machine and program now, for a model and a number of CPU threads. */
export function currentTunings(verdictsPath: string, model: string, threads: number): Tuning[] {
  const stored = Object.entries(readDevices(verdictsPath).tunings ?? {});
  const isCurrent = (key: string, tuning: Tuning) =>
    tuning.model === model && tuning.threads === threads && tuning.version === programVersion && key === keyOf(tuning);
  return stored.filter(([key, tuning]) => isCurrent(key, tuning)).map(([, tuning]) => tuning);
}

/** Returns the shares that a complete tuning found; null if it is not complete. */
export function sharesOf({ measured, failed, failedSlots, isComplete }: Tuning): LaneSpeed | null {
  if (!isComplete) return null;
  const mostSlots = failedSlots === undefined ? Number.POSITIVE_INFINITY : slotsOf(failedSlots) - 1;
  const usable = measured.filter((shares) => failed === undefined || shares.lanes < failed.lanes);
  return bestShares(usable.filter((shares) => slotsOf(shares) <= Math.max(1, mostSlots)));
}

/** Returns the measured multiple of real time at which all GPUs among these recognize speech together; 0: not known. */
export function gpuSpeedOf(tunings: readonly Tuning[]): number {
  const ofGpus = tunings.filter(({ device }) => device !== CPU);
  return ofGpus.reduce((sum, tuning) => sum + (sharesOf(tuning)?.speed ?? 0), 0);
}

/** Returns the key of a tuning: a digest of everything that the speed depends on. A change needs a new measurement. */
function keyOf({ name, library, model, threads, version }: DeviceParts): string {
  const files = [model, ...(isAbsolute(library) ? [library] : [])].map((path) => {
    const file = statSync(path, { throwIfNoEntry: false });
    return [path, file?.size, file?.mtimeMs];
  });
  const machine = [cpuIdentity(), gpuIdentity()];
  return verdictKey([TUNING_VERSION, version, machine, name, library, files, threads]);
}

/** Returns the devices of an engine, once for several GPUs of one kind. @param starts what its workers load */
export function devicesOf(starts: readonly WorkerStart[], threads: number): TunedDevice[] {
  const recognizing = starts.filter(({ role }) => role !== "speakers");
  const byName = new Map(recognizing.map((start) => [start.gpu?.name ?? "", start]));
  return [...byName.values()].map((start) => ({ start, threads }));
}
