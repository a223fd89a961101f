import { afterAll, beforeAll } from "bun:test";
import { join } from "node:path";
import { available } from "../../harness/checkout.ts";
import { programCommand } from "../../harness/program.ts";
import { softwareGpu } from "../../harness/software-gpu.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { chooseCpuLibrary } from "../../src/devices/cpu-libraries.ts";
import { writePcm } from "../support/diarization-models.ts";
import { basePath, canTranscribe, nativeDirectory, readSamples } from "../support/whisper.ts";

/** Returns the command line of the program in another role, where the variables are its environment, too. */
export function roleCommand(mode: string, environment: Readonly<Record<string, string>> = {}): string[] {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return ["env", ...variables, ...programCommand(mode)];
}

/** Returns the CPU variant that works on this machine. Its verdict stays in the cache for later runs. */
async function workingVariant(): Promise<string> {
  const tests = { command: roleCommand("__selftest"), nativeDirectory, speechModel: basePath };
  const { cpuLibrary } = await chooseCpuLibrary({ ...tests, verdictsPath: join(defaultCacheRoot(), "devices.json") });
  return cpuLibrary;
}

/** A backend of GPUs, which a CPU can simulate. */
export const vulkan = "libggml-vulkan.so";
/** Number of samples that are transcribed in seconds even if a CPU simulates the GPU. */
export const sampleCount = 4 * 16_000;

/**
 * Prepares the tests of a file that use Vulkan: a short recording as PCM, and a CPU variant.
 * @returns a function that gives both, the device's variables, and whether the tests can run; null without a device
 */
export async function vulkanTests() {
  const what = "Vulkan on a software device";
  const recording = "formats/jfk.flac";
  const canRun = canTranscribe(what, recording) && available(what, join(nativeDirectory, vulkan));
  const directory = temporaryDirectory();
  const path = join(directory.path, "sample.pcm");
  let cpuLibrary = "";
  beforeAll(async () => {
    if (!canRun) return;
    cpuLibrary = await workingVariant();
    await writePcm(path, (await readSamples(recording)).subarray(0, sampleCount));
  });
  afterAll(() => directory[Symbol.dispose]());
  const gpu = canRun ? await softwareGpu(what) : null;
  return { canRun, gpu, directory: directory.path, path, cpuLibrary: () => cpuLibrary };
}
