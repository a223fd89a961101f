import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { root } from "../../../harness/checkout.ts";
import { softwareGpu } from "../../../harness/software-gpu.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { Engine, type UnexpectedExit } from "../../../src/engine/index.ts";
import { programFiles } from "../../../src/program/index.ts";
import { createLogger } from "../../../src/telemetry/index.ts";
import { WINDOW_SAMPLES } from "../../../src/timeline/index.ts";
import { basePath, canTranscribe, nativeDirectory } from "../recognizer/whisper/support.ts";
import { workingVariant, writePcm } from "./simulated.ts";

const what = "the models that tell speakers apart on a software device";
const recording = "formats/jfk.flac";
const canRun = canTranscribe(what, recording);
const gpu = canRun ? await softwareGpu(what) : null;
const never = new AbortController().signal;
const cpuLibrary = canRun ? await workingVariant() : "";

describe.skipIf(gpu === null)("by WebGPU", () => {
  const directory = temporaryDirectory();
  const pcmPath = join(directory.path, "sample.pcm");

  beforeAll(async () => {
    await writePcm(pcmPath, recording, WINDOW_SAMPLES);
  });
  afterAll(() => directory[Symbol.dispose]());

  test("the segmentation model gives the CPU's activity of a window of speech", async () => {
    const activityBy = async (provider: string): Promise<number[]> => {
      const args = [join(import.meta.dir, "segment-with.ts"), provider, pcmPath];
      const environment = { ...process.env, ...gpu };
      const child = Bun.spawn([process.execPath, ...args], { env: environment, stdout: "pipe", stderr: "inherit" });
      return (await new Response(child.stdout).json()) as number[];
    };
    const [expected, found] = [await activityBy("cpu"), await activityBy("webgpu")];
    expect(found).toHaveLength(expected.length);
    expect(Math.max(...expected)).toBeGreaterThan(0.9);
    expect(Math.max(...expected.map((value, at) => Math.abs(value - (found[at] ?? 0))))).toBeLessThan(0.001);
  }, 300_000);
});

test.skipIf(!canRun)(
  "a worker without its GPU reports that, and the next worker computes on the CPU",
  async () => {
    using directory = temporaryDirectory();
    const { onnxBinding, segmentationModel, embeddingModel } = await programFiles("");
    const deaths: UnexpectedExit[] = [];
    const engine = new Engine({
      command: [
        "env",
        "VK_DRIVER_FILES=/nowhere",
        "VK_ICD_FILENAMES=/nowhere",
        process.execPath,
        join(root, "src/main.ts"),
        "__worker",
      ],
      prepare: async (death) => {
        if (death !== null) deaths.push(death);
        return [
          {
            ...{ type: "start", nativeDirectory, cpuLibrary, speechModel: basePath },
            ...{ onnxBinding, segmentationModel, embeddingModel, threads: 1, speechThreads: 1, lanes: 1 },
            speakersOnGpu: death === null ? ["segmentation"] : [],
          },
        ];
      },
      log: createLogger("silent"),
    });
    try {
      const path = join(directory.path, "pcm");
      await Bun.write(path, new Int16Array(16_000));
      const params = { area: { directory: directory.path, pcm: { path, sampleCount: 16_000 } }, block: 0 };
      await engine.run("detectBlock", params, never);
      expect(deaths).toEqual([expect.objectContaining({ gpuFailure: expect.objectContaining({ part: "speakers" }) })]);
    } finally {
      await engine.close();
    }
  },
  60_000,
);
