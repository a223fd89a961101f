import type { GpuMemory } from "../operations/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { storedEncoder } from "./encoder-self-test.ts";
import { type LaneShares, type LaneSpeed, slotsOf, type Tuning } from "./lane-shares.ts";
import { type PrepareWorkerOptions, workerPreparation } from "./prepare-worker.ts";
import { candidatesOf, type TuneOptions, tuneDevice } from "./tune-device.ts";
import { devicesOf, readTuning, sharesOf, type TunedDevice } from "./tunings.ts";

export interface TunerOptions extends Pick<TuneOptions, "verdictsPath" | "withSample"> {
  /** Returns whether the engine has operations. */
  readonly isBusy: () => boolean;
  /** Returns the memory of a device's GPU; null if it is not known. */
  readonly gpuMemoryOf: (device: TunedDevice) => GpuMemory | null;
  /** Returns the path of the encoder in ONNX form, where the CPU uses that. */
  readonly encoderOf: (device: TunedDevice) => Promise<string | null>;
  /** Called after the measurement if another number of lanes is better than the one in use. */
  readonly onTuned: () => void;
  readonly log: Logger;
  /** How long the engine must be idle before a measurement. */
  readonly idleMilliseconds: number;
  /** Measures a device; the real function by default. */
  readonly tune?: typeof tuneDevice;
}

/**
 * Measures the lanes of the devices in idle time, once for each device, driver, model and version. Work ends a
 * measurement at once; it continues in the next idle time.
 */
export class Tuner {
  readonly #options: TunerOptions;
  /** Devices in use that were not measured yet. */
  #unmeasured: readonly TunedDevice[] = [];
  /** Whether a measurement found other lanes than those in use. */
  #isChanged = false;
  #timer: NodeJS.Timeout | undefined;
  #running: { readonly abort: AbortController; readonly ended: Promise<void> } | null = null;
  #isClosed = false;

  constructor(options: TunerOptions) {
    this.#options = options;
  }

  /** Sets the devices in use, which are measured in the next idle time if they were not yet. */
  use(devices: readonly TunedDevice[]): void {
    this.#unmeasured = devices.filter((device) => this.#isUnmeasured(device));
    this.#waitForIdleTime();
  }

  /** Ends a measurement, because the engine has work or expects some. */
  interrupt(): void {
    this.#running?.abort.abort();
    this.#waitForIdleTime();
  }

  /** Resolves when no measurement runs. */
  async idle(): Promise<void> {
    await this.#running?.ended;
  }

  /** Ends a measurement; no other starts. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#running?.abort.abort();
    await this.idle();
  }

  #isUnmeasured(device: TunedDevice): boolean {
    return candidatesOf(device).length > 0 && !readTuning(this.#options.verdictsPath, device).isComplete;
  }

  #waitForIdleTime(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed || this.#unmeasured.length === 0) return;
    this.#timer = setTimeout(() => this.#startIfIdle(), this.#options.idleMilliseconds);
    this.#timer.unref();
  }

  #startIfIdle(): void {
    if (this.#running !== null || this.#options.isBusy()) {
      this.#waitForIdleTime();
      return;
    }
    const abort = new AbortController();
    const ended = this.#tuneAll(abort.signal).finally(() => {
      this.#running = null;
    });
    this.#running = { abort, ended };
  }

  async #tuneAll(signal: AbortSignal): Promise<void> {
    const { log, onTuned, verdictsPath, withSample, encoderOf, gpuMemoryOf, tune = tuneDevice } = this.#options;
    for (const device of this.#unmeasured) {
      const gpu = device.start.gpu?.label;
      try {
        const encoder = (await encoderOf(device)) ?? undefined;
        const gpuMemory = gpuMemoryOf(device);
        const tuning = await tune(device, { verdictsPath, withSample, log, signal, encoder, gpuMemory });
        const { measured, failed, failedSlots } = tuning;
        const best = sharesOf(tuning);
        this.#isChanged ||= best !== null && !isInUse(best, device);
        log.info({ event: "engine.lanes_measured", gpu, ...best, measured, failed, failedSlots });
      } catch (error) {
        if (signal.aborted) return;
        // Not repeated before the next start of a worker: the reason, such as a full disk, is not the device's.
        log.warn({ event: "engine.lanes_not_measured", gpu, reason: messageOf(error) });
      }
      this.#unmeasured = this.#unmeasured.filter((other) => other !== device);
    }
    if (!this.#isChanged) return;
    this.#isChanged = false;
    onTuned();
  }
}

function isInUse(shares: LaneShares, { start }: TunedDevice): boolean {
  return shares.lanes === start.lanes && slotsOf(shares) === slotsOf(start);
}

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
