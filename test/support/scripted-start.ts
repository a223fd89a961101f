import type { WorkerStart } from "../../src/operations/index.ts";

/** Start parameters of the scripted worker, which loads nothing. */
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
