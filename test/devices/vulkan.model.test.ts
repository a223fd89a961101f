import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { smallSizes, smallWhisper } from "../../harness/whisper/small-models.ts";
import { listGpus } from "../../src/devices/list-gpus.ts";
import { Engine, type UnexpectedExit } from "../../src/engine/index.ts";
import type { WorkerStart } from "../../src/operations/index.ts";
import { programFiles } from "../../src/program/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { linesOf } from "../support/run-script.ts";
import { basePath, nativeDirectory } from "../support/whisper.ts";
import { roleCommand, sampleCount, vulkan, vulkanTests } from "./simulated.ts";

const { canRun, gpu, directory, path, cpuLibrary } = await vulkanTests();
const { onnxBinding, segmentationModel, embeddingModel } = await programFiles("");

const device = { library: vulkan, label: "Vulkan0", name: "llvmpipe", environment: {} };
/** A model with random weights, whose kernels the device compiles in half a minute. */
const multilingual = { ...smallSizes, vocabulary: 51_865 };
const compiledWithin = 300_000;

/** Returns how a worker starts. */
const startWith = (lanes: number, threads: number): WorkerStart => ({
  ...{ type: "start", nativeDirectory, cpuLibrary: cpuLibrary(), speechModel: basePath },
  ...{ onnxBinding, segmentationModel, embeddingModel, threads, speechThreads: threads, lanes },
});
const span = { startSeconds: 0, endSeconds: 4 };
const params = {
  area: { directory: "/", pcm: { path, sampleCount } },
  chunk: { ...span, speech: [span] },
  model: basePath,
};

describe.skipIf(!canRun)("whisper on Vulkan", () => {
  test.skipIf(gpu === null)(
    "computes the CPU's language probabilities",
    async () => {
      const model = join(directory, "small.bin");
      writeFileSync(model, smallWhisper(multilingual).bytes);
      const probabilitiesOn = async (gpuLibrary: string): Promise<Record<string, number>> => {
        const args = ["libggml-cpu-x64.so", model, gpuLibrary];
        const [answer = ""] = await linesOf(join(import.meta.dir, "detect-with.ts"), args, gpu ?? {});
        return JSON.parse(answer) as Record<string, number>;
      };
      const [expected, found] = [await probabilitiesOn(""), await probabilitiesOn(vulkan)];
      const values = Object.values(expected);
      expect(Object.keys(found)).toEqual(Object.keys(expected));
      expect(values.length).toBeGreaterThan(90);
      // Random weights make the languages differ by up to 0.006, and the device differs from the CPU by 0.00001.
      expect(Math.max(...values) - Math.min(...values)).toBeGreaterThan(0.003);
      for (const [language, probability] of Object.entries(expected)) {
        expect(Math.abs(probability - (found[language] ?? 0))).toBeLessThan(0.0001);
      }
    },
    compiledWithin,
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
        const start = startWith(1, 2);
        const engine = new Engine({
          command: roleCommand("__worker", environment),
          prepare: async (death) => {
            deaths.push(death);
            return [death === null ? { ...start, gpu: device } : start];
          },
          onCompletion: ({ device }) => devices.push(device),
          log: createLogger("silent"),
        });
        try {
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
      const seeing = (mode: string) => ["sh", "-c", two, ...roleCommand(mode, drivers)];
      const options = { command: seeing("__selftest"), nativeDirectory, cpuLibrary: cpuLibrary() };
      const named = { GGML_VK_VISIBLE_DEVICES: "0,0" };
      const devices = await listGpus(options, { kind: "vulkan", library: vulkan }, named);
      expect(devices.map(({ label, environment }) => [label, environment])).toEqual([
        ["Vulkan0", { GGML_VK_VISIBLE_DEVICES: "0" }],
        ["Vulkan1", { GGML_VK_VISIBLE_DEVICES: "0" }],
      ]);

      const fault = { WORKER_TEST_FAULT: `detectLanguage:${sampleCount}:GPU` };
      const starts = devices.map((found, index) => ({
        ...startWith(2, 1),
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
        const told: string[] = [];
        const onInterrupted = (how: string) => told.push(how);
        const tries = { crashes: 0, onStart: () => told.push("begins"), onInterrupted };
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
