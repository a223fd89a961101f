import { join } from "node:path";
import { programCommand } from "../../../harness/program.ts";
import { defaultCacheRoot } from "../../../native/build.ts";
import { chooseCpuLibrary } from "../../../src/speech/devices/cpu-libraries.ts";
import { basePath, nativeDirectory, readSamples } from "../recognizer/whisper/support.ts";

/** Returns the command line of the program in another role, where the variables are its environment, too. */
export function roleCommand(mode: string, environment: Readonly<Record<string, string>> = {}): string[] {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return ["env", ...variables, ...programCommand(mode)];
}

/** Returns the CPU variant that works on this machine. Its verdict stays in the cache for later runs. */
export async function workingVariant(): Promise<string> {
  const tests = { command: roleCommand("__selftest"), nativeDirectory, speechModel: basePath };
  const { cpuLibrary } = await chooseCpuLibrary({ ...tests, verdictsPath: join(defaultCacheRoot(), "devices.json") });
  return cpuLibrary;
}

/** Writes the first samples of a recording of the corpus as PCM. */
export async function writePcm(path: string, recording: string, sampleCount: number): Promise<void> {
  const samples = (await readSamples(recording)).subarray(0, sampleCount);
  await Bun.write(
    path,
    Int16Array.from(samples, (sample) => sample * 32_767),
  );
}
