import { existsSync } from "node:fs";
import { join } from "node:path";
import { computeOptions, cpuLimit, inSlots, sharesOf, tuneDevices } from "../../devices/index.ts";
import { withSpeechSample } from "../../server/index.ts";
import { createLogger } from "../../telemetry/index.ts";
import { count } from "../../text/index.ts";
import { type BenchmarkOptions, withBench } from "./run-benchmark.ts";

/** The measured throughput of one device with each number of lanes. */
export interface TunedLanes {
  /** Label of the GPU, or `CPU`. */
  readonly device: string;
  readonly name: string;
  /** The best number of lanes; null if nothing could be measured. */
  readonly lanes: number | null;
  /** How many of them share graphs; 1: none. */
  readonly slots: number;
  readonly measured: readonly {
    readonly lanes: number;
    /** CPU threads of each operation. */
    readonly threads: number;
    readonly slots?: number;
    /** Seconds of audio in one second. */
    readonly speed: number;
    readonly gpuBytes?: number;
  }[];
  /** Lanes that ended a worker. */
  readonly failed: { readonly lanes: number; readonly reason: string } | null;
  /** Slots that ended a worker. */
  readonly failedSlots: { readonly slots?: number; readonly reason: string } | null;
}

export interface Tunings {
  /** Id of the speech model in use. */
  readonly model: string;
  readonly devices: readonly TunedLanes[];
  /** Whether a server uses the result. */
  readonly stored: boolean;
  readonly notes: readonly string[];
}

/**
 * Measures the best number of operations at once for each device that a server would use, and stores it in the data
 * directory. @throws {Error} with the reason why nothing can be measured; the signal's reason after an abort
 */
export async function runTuning(options: Omit<BenchmarkOptions, "seconds">): Promise<Tunings> {
  const { settings, signal, onStep } = options;
  const { engine } = settings;
  return await withBench(settings, async ({ files, paths, directory, model, notes }) => {
    const stored = existsSync(paths.root);
    onStep("preparing");
    const compute = computeOptions(engine);
    const tunings = await tuneDevices({
      files,
      speechModels: () => [model.path],
      ...compute,
      verdictsPath: stored ? paths.verdicts : join(directory, "devices.json"),
      log: createLogger("silent"),
      withSample: (use) => withSpeechSample(files, use),
      signal,
      onStep: (device, speed) =>
        onStep(
          speed === null
            ? `${device}: measuring`
            : `${device}: ${count(speed.lanes, "operation")} at once${inSlots(speed)}, ${speed.speed.toFixed(1)} times real time`,
        ),
    });
    const { decoderSlots } = compute;
    if (decoderSlots > 0) notes.push(`engine.decoder_slots = ${decoderSlots} overrides the result`);
    if (engine.lanes > 0) notes.push(`engine.lanes = ${engine.lanes} overrides the result`);
    const limit = cpuLimit(tunings, compute.threads);
    if (limit !== null) notes.push(limit);
    if (!stored) notes.push("there is no data directory, so that the result is not stored");
    const devices = tunings.map((tuning) => {
      const { device, name, measured, failed = null, failedSlots = null } = tuning;
      const { lanes = null, slots = 1 } = sharesOf(tuning) ?? {};
      return { device, name, lanes, slots, measured, failed, failedSlots };
    });
    return { model: model.id, devices, stored, notes };
  });
}
