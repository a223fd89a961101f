import { resolve } from "node:path";
import { CommandError } from "../tools/shared/run-command.ts";
import type { LogLine } from "./server.ts";
import { softwareGpu } from "./software-gpu.ts";

/** The device of a server. */
export interface Device {
  /** The name in the log: `cpu`, `vulkan` or `cuda`. */
  readonly speechDevice: string;
  /** Settings and variables that select it. */
  readonly environment: Readonly<Record<string, string>>;
}

export const cpu: Device = { speechDevice: "cpu", environment: { TRANSCRIBE_ENGINE_DEVICE: "cpu" } };

/**
 * Returns the GPU of an option `--gpu`.
 * @param which `software`, `vulkan`, or the path of CUDA's library
 * @throws {CommandError} when Mesa's software device is not available
 */
export async function gpuOf(which: string): Promise<Device> {
  if (which !== "software" && which !== "vulkan") {
    const environment = { TRANSCRIBE_ENGINE_DEVICE: "cuda", TRANSCRIBE_ENGINE_CUDA_LIBRARY: resolve(which) };
    return { speechDevice: "cuda", environment };
  }
  const drivers = which === "software" ? await softwareGpu("the words of a GPU") : {};
  if (drivers === null) throw new CommandError("the software GPU is not available, so there is nothing to compare");
  return { speechDevice: "vulkan", environment: { TRANSCRIBE_ENGINE_DEVICE: "vulkan", ...drivers } };
}

/**
 * Returns the recognizer's device since the last start of a worker: `cpu`, `vulkan` or `cuda`; undefined before it. Next
 * to a GPU, workers that run only the speaker models report the CPU.
 */
export function speechDeviceIn(log: readonly LogLine[]): unknown {
  return log.findLast(({ event, role }) => event === "engine.ready" && role !== "speakers")?.speechDevice;
}
