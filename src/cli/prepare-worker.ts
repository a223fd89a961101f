import { existsSync } from "node:fs";
import { join } from "node:path";
import { programFiles } from "../config/index.ts";
import type { WorkerStart } from "../engine/index.ts";
import type { Logger } from "../telemetry/index.ts";

export interface PrepareWorkerOptions {
  readonly whisperModel: string;
  readonly threads: number;
  /** Where the verdicts of the CPU variants' self-tests are kept. */
  readonly verdictsPath: string;
  readonly log: Logger;
}

/** What a worker shall load. @throws an Error that says what is missing and how to get it */
export async function prepareWorker({ whisperModel, threads }: PrepareWorkerOptions): Promise<WorkerStart> {
  const { nativeDirectory, segmentationModel, embeddingModel } = programFiles;
  for (const path of [whisperModel, segmentationModel, embeddingModel, join(nativeDirectory, "whisper.node")]) {
    if (!existsSync(path)) throw new Error(`${path} is missing; run scripts/setup`);
  }
  return { type: "start", nativeDirectory, cpuLibrary: "", whisperModel, segmentationModel, embeddingModel, threads };
}
