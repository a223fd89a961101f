import { existsSync } from "node:fs";
import { join } from "node:path";
import { chooseCpuLibrary, leaveOutCpuLibrary, type WorkerDeath, type WorkerStart } from "../engine/index.ts";
import { ownCommand, type ProgramFiles } from "../program/index.ts";
import type { Logger } from "../telemetry/index.ts";

export interface PrepareWorkerOptions {
  /** What a worker loads; the whisper model may be another than the default. */
  readonly files: ProgramFiles;
  readonly threads: number;
  /** Where the verdicts of the CPU variants' self-tests are kept. */
  readonly verdictsPath: string;
  readonly log: Logger;
}

/**
 * Says what a worker shall load: the parts as they lie here, and the best CPU variant that passes its self-test. One that
 * a worker died of by an illegal instruction is left out from then on.
 */
export function workerPreparation(options: PrepareWorkerOptions): (death: WorkerDeath | null) => Promise<WorkerStart> {
  const { files, threads, verdictsPath, log } = options;
  const { nativeDirectory, whisperModel, segmentationModel, embeddingModel } = files;
  const choice = { command: ownCommand("__selftest"), nativeDirectory, whisperModel, verdictsPath };
  let cpuLibrary = "";
  return async (death) => {
    for (const path of [whisperModel, segmentationModel, embeddingModel, join(nativeDirectory, "whisper.node")]) {
      if (!existsSync(path)) throw new Error(`${path} is missing; run scripts/setup`);
    }
    if (death?.signal === "SIGILL" && cpuLibrary !== "") {
      log.error({ event: "engine.cpu_variant_left_out", cpuLibrary });
      await leaveOutCpuLibrary(choice, cpuLibrary, "a worker met an illegal instruction");
    }
    const { leftOut, ...chosen } = await chooseCpuLibrary(choice);
    cpuLibrary = chosen.cpuLibrary;
    if (leftOut.length > 0) log.warn({ event: "engine.cpu_variants_failed", leftOut });
    return { type: "start", nativeDirectory, cpuLibrary, whisperModel, segmentationModel, embeddingModel, threads };
  };
}
