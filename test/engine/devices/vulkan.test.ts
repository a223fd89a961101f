import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { defaultCacheRoot } from "../../../native/build.ts";
import { chooseCpuLibrary, type GpuTestOptions, tryGpuLibrary } from "../../../src/engine/devices/index.ts";
import { Engine, type WorkerDeath, type WorkerStart } from "../../../src/engine/index.ts";
import { programFiles } from "../../../src/program/index.ts";
import { createLogger } from "../../../src/telemetry/index.ts";
import { available, root } from "../../support/checkout.ts";
import { softwareGpu } from "../../support/software-gpu.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { basePath, canTranscribe, nativeDirectory, readSamples } from "../whisper/support.ts";

const what = "Vulkan on a software device";
const recording = "formats/jfk.flac";
const canRun = canTranscribe(what, recording) && available(what, join(nativeDirectory, "libggml-vulkan.so"));
const gpu = canRun ? await softwareGpu(what) : null;

const vulkan = "libggml-vulkan.so";
/** So much is heard in seconds even where a CPU plays the GPU. */
const sampleCount = 4 * 16_000;

describe.skipIf(!canRun)("whisper on Vulkan", () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, "sample.pcm");
  /** The program in another role, where this is its environment, too. */
  const command = (mode: string, environment: Readonly<Record<string, string>>) => {
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    return ["env", ...variables, process.execPath, join(root, "src", "main.ts"), mode];
  };

  let cpuLibrary = "";
  beforeAll(async () => {
    const tests = { command: command("__selftest", {}), nativeDirectory, whisperModel: basePath };
    const verdictsPath = join(defaultCacheRoot(), "devices.json");
    ({ cpuLibrary } = await chooseCpuLibrary({ ...tests, verdictsPath }));
    const samples = (await readSamples(recording)).subarray(0, sampleCount);
    await Bun.write(
      path,
      Int16Array.from(samples, (sample) => sample * 32_767),
    );
  });
  afterAll(() => directory[Symbol.dispose]());

  test.skipIf(gpu === null)(
    "hears what the CPU hears, and is used all the same only where it was asked for",
    async () => {
      const options: GpuTestOptions = {
        ...{ command: command("__selftest", gpu ?? {}), nativeDirectory, cpuLibrary, whisperModel: basePath },
        ...{ withSample: (use) => use(path), mustBeFaster: true },
      };
      const trial = await tryGpuLibrary(options, vulkan);
      expect(trial).toEqual({
        ok: false,
        reason: expect.stringMatching(/^it is no faster than the CPU/),
        lasting: true,
      });
    },
    300_000,
  );

  const failures: [string, boolean, Readonly<Record<string, string>>, string][] = [
    [
      "fails in the middle",
      gpu !== null,
      { ...gpu, WORKER_TEST_FAULT: `detectLanguage:${sampleCount}:GPU` },
      "the device was lost",
    ],
    // No such driver: whoever has GPUs keeps them from this.
    ["is not there when it is loaded", true, { VK_DRIVER_FILES: "/nowhere", VK_ICD_FILENAMES: "/nowhere" }, ""],
  ];
  for (const [name, canBe, environment, reason] of failures) {
    test.skipIf(!canBe)(
      `where the device ${name}, the CPU does what was begun, and nothing is lost`,
      async () => {
        const deaths: (WorkerDeath | null)[] = [];
        const devices: string[] = [];
        const { onnxBinding, segmentationModel, embeddingModel } = await programFiles("");
        const start: WorkerStart = {
          ...{ type: "start", nativeDirectory, cpuLibrary, gpuLibraries: [], whisperModel: basePath },
          ...{ onnxBinding, segmentationModel, embeddingModel, threads: 2 },
        };
        const engine = new Engine({
          command: command("__worker", environment),
          prepare: async (death) => {
            deaths.push(death);
            return [death === null ? { ...start, gpuLibraries: [vulkan] } : start];
          },
          onWork: ({ device }) => devices.push(device),
          lanes: 1,
          log: createLogger("silent"),
        });
        try {
          const span = { startSeconds: 0, endSeconds: 4 };
          const params = { pcm: { path, sampleCount }, chunk: { ...span, speech: [span] }, model: basePath };
          const { probabilities } = await engine.run("detectLanguage", params, new AbortController().signal);
          expect(probabilities.en).toBeGreaterThan(0.9);
          const failure = { message: expect.stringContaining(reason), outOfMemory: false };
          expect(deaths).toEqual([null, expect.objectContaining({ gpuFailure: failure })]);
          expect(devices).toEqual(["cpu"]);
        } finally {
          await engine.close();
        }
      },
      120_000,
    );
  }
});
