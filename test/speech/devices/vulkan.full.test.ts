import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { available } from "../../../harness/checkout.ts";
import { softwareGpu } from "../../../harness/software-gpu.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { GpuTester, type GpuTestOptions } from "../../../src/speech/devices/gpu-self-test.ts";
import { basePath, canTranscribe, nativeDirectory } from "../recognizer/whisper/support.ts";
import { roleCommand, workingVariant, writePcm } from "./simulated.ts";

const what = "Vulkan on a software device";
const recording = "formats/jfk.flac";
const canRun = canTranscribe(what, recording) && available(what, join(nativeDirectory, "libggml-vulkan.so"));
const gpu = canRun ? await softwareGpu(what) : null;

const vulkan = "libggml-vulkan.so";
/** A device compiles its kernels at first use, which takes three minutes of one processor. */
const compiledWithin = 900_000;
/** Length that is transcribed in seconds even if a CPU simulates the GPU. */
const sampleCount = 4 * 16_000;

describe.skipIf(gpu === null)("Whisper base on Vulkan", () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, "sample.pcm");
  let cpuLibrary = "";
  beforeAll(async () => {
    cpuLibrary = await workingVariant();
    await writePcm(path, recording, sampleCount);
  });
  afterAll(() => directory[Symbol.dispose]());

  test(
    "recognizes the CPU's words, and is used although slower only if it is requested",
    async () => {
      const options: GpuTestOptions = {
        ...{ command: roleCommand("__selftest", gpu ?? {}), nativeDirectory, cpuLibrary, speechModel: basePath },
        ...{ withSample: (use) => use(path), mustBeFaster: true },
        timeoutMilliseconds: compiledWithin,
      };
      const trial = await new GpuTester(options).test({ library: vulkan, environment: {} });
      expect(trial).toEqual({
        ok: false,
        reason: expect.stringMatching(/^it is no faster than the CPU/),
        lasting: true,
        late: false,
      });
    },
    compiledWithin + 60_000,
  );
});
