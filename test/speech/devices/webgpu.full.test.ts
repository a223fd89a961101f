import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { softwareGpu } from "../../../harness/software-gpu.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { Engine, type UnexpectedExit, type WorkerStart } from "../../../src/engine/index.ts";
import { type SpeakerPart, speakerParts } from "../../../src/engine/protocol.ts";
import { programFiles } from "../../../src/program/index.ts";
import { testDiarizationGpu } from "../../../src/speech/devices/diarization-gpu.ts";
import { readVoices } from "../../../src/speech/diarization/voices.ts";
import { createLogger } from "../../../src/telemetry/index.ts";
import { basePath, canTranscribe, nativeDirectory } from "../recognizer/whisper/support.ts";
import { roleCommand, workingVariant, writePcm } from "./simulated.ts";

const what = "the models that tell speakers apart on a software device";
const recording = "formats/jfk.flac";
const canRun = canTranscribe(what, recording);
const gpu = canRun ? await softwareGpu(what) : null;
const sampleCount = 7 * 16_000;
const never = new AbortController().signal;
const cpuLibrary = canRun ? await workingVariant() : "";

describe.skipIf(gpu === null)("by WebGPU", () => {
  const directory = temporaryDirectory();
  const pcm = { path: join(directory.path, "sample.pcm"), sampleCount };
  const command = (mode: string, environment: Readonly<Record<string, string>>) =>
    roleCommand(mode, { ...gpu, ...environment });

  beforeAll(async () => {
    await writePcm(pcm.path, recording, sampleCount);
  });
  afterAll(() => directory[Symbol.dispose]());

  test.each(speakerParts)(
    "the %s model gives the CPU's results, and is left to the CPU, which is faster",
    async (part) => {
      const { onnxBinding, segmentationModel, embeddingModel } = await programFiles("");
      const models = { onnxBinding, segmentationModel, embeddingModel, speakerWorkers: 0 };
      const options = { ...models, command: command("__selftest", {}), timeoutMilliseconds: 290_000 };
      expect(await testDiarizationGpu({ ...options, withSample: (use) => use(pcm.path) }, part)).toEqual({
        ok: false,
        reason: expect.stringMatching(/^it is no faster than the CPU/),
        ...{ lasting: true, late: false },
      });
    },
    300_000,
  );

  /** Detects speech and voices with a worker; returns the devices that ran the operations and the workers' exits. */
  async function work(environment: Readonly<Record<string, string>>, onGpu: readonly SpeakerPart[]) {
    const area = { directory: directory.path, pcm };
    const { onnxBinding, segmentationModel, embeddingModel } = await programFiles("");
    const start: WorkerStart = {
      ...{ type: "start", nativeDirectory, cpuLibrary, speechModel: basePath },
      ...{ onnxBinding, segmentationModel, embeddingModel, threads: 2, speechThreads: 2, lanes: 1 },
    };
    const deaths: UnexpectedExit[] = [];
    const done: string[] = [];
    const engine = new Engine({
      command: command("__worker", environment),
      prepare: async (death) => {
        if (death !== null) deaths.push(death);
        return [death === null ? { ...start, speakersOnGpu: [...onGpu] } : start];
      },
      onCompletion: ({ step, device }) => done.push(`${step} ${device}`),
      log: createLogger("silent"),
    });
    try {
      await engine.run("detectBlock", { area, block: 0 }, never);
      await engine.run("embedBlock", { area, block: 0 }, never);
    } finally {
      await engine.close();
    }
    return { done, deaths, voices: await readVoices(area, 0) };
  }

  test("a worker finds the CPU's voices, and the CPU completes the operations of a lost device", async () => {
    const onCpu = await work({}, []);
    const onGpu = await work({}, speakerParts);
    expect(onGpu.done).toEqual(["detect webgpu", "diarize webgpu"]);
    expect(onGpu.deaths).toEqual([]);
    expect(onGpu.voices.length).toBeGreaterThan(1);
    expect(onGpu.voices.map(({ window, local }) => [window, local])).toEqual(
      onCpu.voices.map(({ window, local }) => [window, local]),
    );

    const lost = await work({ WORKER_TEST_FAULT: `embedBlock:${sampleCount}:GPU` }, ["embedding"]);
    expect(lost.done).toEqual(["detect cpu", "diarize cpu"]);
    const failure = { message: expect.stringContaining("the device was lost"), outOfMemory: false, part: "speakers" };
    expect(lost.deaths).toEqual([expect.objectContaining({ gpuFailure: failure })]);
    expect(lost.voices).toEqual(onCpu.voices);
  }, 300_000);
});
