import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { available, root } from "../../../harness/checkout.ts";
import { softwareGpu } from "../../../harness/software-gpu.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../../native/build.ts";
import { Engine, type UnexpectedExit, type WorkerStart } from "../../../src/engine/index.ts";
import { programFiles } from "../../../src/program/index.ts";
import { chooseCpuLibrary } from "../../../src/speech/devices/cpu-libraries.ts";
import { GpuTester, type GpuTestOptions } from "../../../src/speech/devices/gpu-self-test.ts";
import { listGpus } from "../../../src/speech/devices/list-gpus.ts";
import { createLogger } from "../../../src/telemetry/index.ts";
import { basePath, canTranscribe, nativeDirectory, readSamples } from "../recognizer/whisper/support.ts";

const what = "Vulkan on a software device";
const recording = "formats/jfk.flac";
const canRun = canTranscribe(what, recording) && available(what, join(nativeDirectory, "libggml-vulkan.so"));
const gpu = canRun ? await softwareGpu(what) : null;

const vulkan = "libggml-vulkan.so";
const device = { library: vulkan, label: "Vulkan0", name: "llvmpipe", environment: {} };
/** A device compiles its kernels at first use, which takes three minutes of one processor. */
const compiledWithin = 900_000;
/** Length that is transcribed in seconds even if a CPU simulates the GPU. */
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
    const tests = { command: command("__selftest", {}), nativeDirectory, speechModel: basePath };
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
    "recognizes the CPU's words, and is used although slower only if it is requested",
    async () => {
      const options: GpuTestOptions = {
        ...{ command: command("__selftest", gpu ?? {}), nativeDirectory, cpuLibrary, speechModel: basePath },
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
      `where the device ${name}, the CPU completes the running operations`,
      async () => {
        const deaths: (UnexpectedExit | null)[] = [];
        const devices: string[] = [];
        const { onnxBinding, segmentationModel, embeddingModel } = await programFiles("");
        const start: WorkerStart = {
          ...{ type: "start", nativeDirectory, cpuLibrary, speechModel: basePath },
          ...{ onnxBinding, segmentationModel, embeddingModel, threads: 2, speechThreads: 2, lanes: 1 },
        };
        const engine = new Engine({
          command: command("__worker", environment),
          prepare: async (death) => {
            deaths.push(death);
            return [death === null ? { ...start, gpu: device } : start];
          },
          onCompletion: ({ device }) => devices.push(device),
          log: createLogger("silent"),
        });
        try {
          const span = { startSeconds: 0, endSeconds: 4 };
          const params = {
            area: { directory: "/", pcm: { path, sampleCount } },
            chunk: { ...span, speech: [span] },
            model: basePath,
          };
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

  test.skipIf(gpu === null)(
    "has a worker for each of two devices, and losing one affects only its own",
    async () => {
      const { GGML_VK_VISIBLE_DEVICES: _, ...drivers } = gpu ?? {};
      // The same device twice, for whoever is given no number.
      const two = '[ "$GGML_VK_VISIBLE_DEVICES" ] || export GGML_VK_VISIBLE_DEVICES=0,0; exec "$0" "$@"';
      const seeing = (mode: string) => ["sh", "-c", two, ...command(mode, drivers)];
      const options = { command: seeing("__selftest"), nativeDirectory, cpuLibrary };
      const named = { GGML_VK_VISIBLE_DEVICES: "0,0" };
      const devices = await listGpus(options, { kind: "vulkan", library: vulkan }, named);
      expect(devices.map(({ label, environment }) => [label, environment])).toEqual([
        ["Vulkan0", { GGML_VK_VISIBLE_DEVICES: "0" }],
        ["Vulkan1", { GGML_VK_VISIBLE_DEVICES: "0" }],
      ]);

      const { onnxBinding, segmentationModel, embeddingModel } = await programFiles("");
      const fault = { WORKER_TEST_FAULT: `detectLanguage:${sampleCount}:GPU` };
      const starts = devices.map((found, index) => ({
        ...{ type: "start" as const, nativeDirectory, cpuLibrary, speechModel: basePath, onnxBinding },
        ...{ segmentationModel, embeddingModel, threads: 1, speechThreads: 1, lanes: 2 },
        gpu: { ...found, environment: { ...found.environment, ...(index === 1 ? fault : {}) } },
      }));
      const left = new Set(["Vulkan0", "Vulkan1"]);
      const engine = new Engine({
        command: seeing("__worker"),
        prepare: async (death) => {
          if (death?.gpuFailure !== undefined) left.delete(death.gpu ?? "");
          const [first, ...others] = starts.filter(({ gpu: { label } }) => left.has(label));
          if (first === undefined) throw new Error("no device is left");
          return [first, ...others];
        },
        log: createLogger("silent"),
      });
      try {
        while (engine.status().workers.filter(({ state }) => state === "ready").length < 2) await Bun.sleep(20);
        const span = { startSeconds: 0, endSeconds: 4 };
        const params = {
          area: { directory: "/", pcm: { path, sampleCount } },
          chunk: { ...span, speech: [span] },
          model: basePath,
        };
        const told: string[] = [];
        const tries = {
          crashes: 0,
          onStart: () => told.push("begins"),
          onInterrupted: (how: string) => told.push(how),
        };
        // A CPU that simulates the GPU would take a minute to transcribe them.
        const enough = new AbortController();
        const both = [1, 2].map(() => engine.run("detectLanguage", params, enough.signal, tries).catch(() => "enough"));
        while (told.length < 4) await Bun.sleep(20);
        expect(told).toEqual(["begins", "begins", "gpu failed", "begins"]);
        enough.abort();
        expect(await Promise.all(both)).toEqual(["enough", "enough"]);
        while (engine.status().workers.length > 1) await Bun.sleep(20);
        expect([...left]).toEqual(["Vulkan0"]);
        expect(engine.status()).toMatchObject({ state: "ready", restarts: 1, trouble: null });
      } finally {
        await engine.close();
      }
    },
    300_000,
  );
});
