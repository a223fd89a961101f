import { storedEncoder } from "./encoder-self-test.ts";
import type { LaneSpeed, Tuning } from "./lane-shares.ts";
import { type PrepareWorkerOptions, workerPreparation } from "./prepare-worker.ts";
import { tuneDevice } from "./tune-device.ts";
import { devicesOf } from "./tunings.ts";

export interface TuneDevicesOptions extends PrepareWorkerOptions {
  readonly signal: AbortSignal;
  /** Called before a device is measured, and after each measurement. @param device label of the GPU, or `CPU` */
  readonly onStep: (device: string, speed: LaneSpeed | null) => void;
}

/**
 * Measures the lanes of the devices that a server would use, also if they were measured before, and stores the results.
 * @throws {Error} with the reason why no device can be used; the signal's reason
 */
export async function tuneDevices(options: TuneDevicesOptions): Promise<Tuning[]> {
  const { files, threads, verdictsPath, withSample, log, signal, onStep } = options;
  const { nativeDirectory, onnxBinding } = files;
  const starts = await workerPreparation(options)(null, signal);
  const tunings: Tuning[] = [];
  for (const device of devicesOf(starts, threads)) {
    const { gpu, cpuLibrary, speechModel } = device.start;
    const label = gpu?.label ?? "CPU";
    onStep(label, null);
    const use = { nativeDirectory, onnxBinding, cpuLibrary, speechModel, verdictsPath, signal };
    const encoder = gpu === undefined ? ((await storedEncoder(use)) ?? undefined) : undefined;
    const onMeasured = (speed: LaneSpeed) => onStep(label, speed);
    tunings.push(await tuneDevice(device, { verdictsPath, withSample, log, signal, encoder, onMeasured, again: true }));
  }
  return tunings;
}
