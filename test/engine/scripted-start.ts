import type { WorkerStart } from "../../src/engine/index.ts";

/** What the scripted worker is started with, which loads nothing. */
export const scriptedStart: WorkerStart = {
  type: "start",
  nativeDirectory: "/",
  onnxBinding: "/",
  cpuLibrary: "/",
  speechModel: "/",
  segmentationModel: "/",
  embeddingModel: "/",
  threads: 1,
  speechThreads: 1,
  lanes: 1,
};
