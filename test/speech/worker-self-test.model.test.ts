import { expect, test } from "bun:test";
import { Engine } from "../../src/engine/index.ts";
import type { WorkerStart } from "../../src/operations/index.ts";
import { ownCommand, programFiles } from "../../src/program/index.ts";
import { loadGgml } from "../../src/runtimes/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { basePath, canTranscribe, nativeDirectory } from "../support/whisper.ts";

const never = new AbortController().signal;
const canRun = canTranscribe("the worker's self-test");
const files = canRun ? await programFiles("") : null;

test.skipIf(files === null).each([
  ["passes with the program's models", "segmentationModel", "embeddingModel", null],
  [
    "fails with an embedding model that computes something else",
    "segmentationModel",
    "segmentationModel",
    /^EngineOperationError/,
  ],
  [
    "fails with a segmentation model that computes something else",
    "embeddingModel",
    "embeddingModel",
    /^EngineOperationError/,
  ],
] as const)(
  "the self-test of a worker %s",
  async (_, segmentation, embedding, fault) => {
    if (files === null) return;
    const start: WorkerStart = {
      ...{
        type: "start",
        nativeDirectory,
        cpuLibrary: loadGgml({ nativeDirectory }).cpuLibrary,
        speechModel: basePath,
      },
      ...{ onnxBinding: files.onnxBinding, segmentationModel: files[segmentation], embeddingModel: files[embedding] },
      ...{ threads: 2, speechThreads: 2, lanes: 1 },
    };
    const log = createLogger("silent");
    const engine = new Engine({ command: ownCommand("__worker"), prepare: async () => [start], log });
    try {
      const result = await engine.run("selfTest", {}, never).catch((error: unknown) => String(error));
      if (fault === null) expect(result).toEqual({});
      else expect(result).toMatch(fault);
    } finally {
      await engine.close();
    }
  },
  120_000,
);
