import { resolve } from "node:path";
import { requireCpuVariant } from "../src/devices/index.ts";
import { programFiles } from "../src/program/index.ts";
import { messageOf } from "../src/text/index.ts";
import { FASTEST_CPU_VARIANT } from "../tools/shared/cpu-variant.ts";
import { CommandError } from "../tools/shared/run-command.ts";
import { programCommand } from "./program.ts";
import type { LogLine } from "./server.ts";
import { softwareGpu } from "./software-gpu.ts";

export interface Device {
  /** The name in the log: `cpu`, `vulkan` or `cuda`. */
  readonly speechDevice: string;
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

/** Returns the server's settings for a variant. @throws {CommandError} when the variant cannot be used here */
export async function cpuSettings(cpu: string): Promise<Readonly<Record<string, string>>> {
  if (cpu === FASTEST_CPU_VARIANT) return {};
  const { nativeDirectory } = await programFiles("");
  const options = { nativeDirectory, cpuVariant: cpu, command: programCommand("__selftest") };
  await requireCpuVariant(options).catch((error: unknown) => {
    throw new CommandError(`${messageOf(error)}. scripts/setup --all builds all variants`);
  });
  return { TRANSCRIBE_ENGINE_CPU_VARIANT: cpu };
}

/**
 * Returns the recognizer's device since the last start of a worker: `cpu`, `vulkan` or `cuda`; undefined before it. Next
 * to a GPU, workers that run only the speaker models report the CPU.
 */
export function speechDeviceIn(log: readonly LogLine[]): unknown {
  return log.findLast(({ event, role }) => event === "engine.ready" && role !== "speakers")?.speechDevice;
}
