import { statfsSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { programCommand } from "../../harness/program.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { Engine, type Gpu, type WorkerStart } from "../../src/engine/index.ts";
import { programFiles } from "../../src/program/index.ts";
import { withSpeechSample } from "../../src/server/index.ts";
import { chooseGpus } from "../../src/speech/devices/choose-gpus.ts";
import {
  bestShares,
  inSlots,
  type LaneShares,
  type LaneSpeed,
  slotsOf,
  threadsOf,
} from "../../src/speech/devices/lane-shares.ts";
import { operationsPerSecond, tuneDevice } from "../../src/speech/devices/tune-device.ts";
import { type GpuBackendKind, gpuBackends } from "../../src/speech/ggml.ts";
import { chooseCpuLibraryFor, isGpuWithinReach } from "../../src/speech/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { inMib, MIB } from "../shared/figures.ts";
import { flag, text, whole } from "../shared/options.ts";
import { asText, headingOf } from "../shared/table.ts";
import { RANDOM_WHISPER_BYTES, writeRandomWhisper } from "./random-whisper.ts";

/** Seconds of audio of one pass with the large model: the window is always encoded as a whole. */
const WINDOW_SECONDS = 30;
/** Operations at once: each decodes alone, then in slots. */
const LARGE_SHARES: readonly Pick<LaneShares, "lanes" | "slots">[] = [
  ...[1, 2, 4, 8, 16].map((lanes) => ({ lanes })),
  ...[4, 8, 16, 32, 64].map((slots) => ({ lanes: slots, slots })),
];
const MIN_SECONDS = 2;

interface Measured {
  readonly gpu: string;
  readonly name: string;
  readonly model: string;
  readonly speeds: readonly LaneSpeed[];
  /** Reason why more lanes were not measured. */
  readonly stopped: string | null;
}

const progress = (message: string) => console.error(message);
const never = new AbortController().signal;

export const command = defineCommand({
  name: "scripts/bench gpu",
  about:
    "Measures the recognizer on each GPU, with each backend that works, and several operations at once. Prints the speed " +
    "and the GPU's memory with Whisper base and with random weights in the shape of large-v3-turbo, which are written to " +
    "the system's directory for temporary files (1.7 GB). Without a GPU it reports that nothing was measured.",
  options: {
    cuda: text("PATH", "also measure the CUDA backend with this path, see engine.cuda_library", ""),
    onlyBase: flag("leave out the large model"),
    threads: whole("number of CPU threads", { fallback: availableParallelism() }),
    json: flag("print the figures as JSON"),
  },
  async run({ cuda, onlyBase, threads, json }) {
    if (!isGpuWithinReach()) {
      console.log("SKIPPED: no GPU can be reached here, because /dev has none. Nothing was measured.");
      return;
    }
    using folder = temporaryDirectory();
    const skipped: string[] = [];
    const skip = (reason: string) => {
      skipped.push(reason);
      progress(`SKIPPED: ${reason}`);
    };
    const results = await measureAll({ folder: folder.path, cuda, onlyBase, threads, skip });
    const when = await circumstances(Date.now());
    if (json) console.log(JSON.stringify({ ...when, threads, results, skipped }, null, 2));
    else if (results.length === 0) console.log("No GPU passed its self-test. Nothing was measured.");
    else {
      console.log(`${headingOf(when, `${threads} threads`)}:`);
      for (const one of results) print(one);
      console.log(
        "\nNot measured here: whole recordings. scripts/bench --only transcribe does that, on the same device.",
      );
    }
  },
});

interface Terms {
  readonly folder: string;
  readonly cuda: string;
  readonly onlyBase: boolean;
  readonly threads: number;
  /** Reports what is not measured. */
  readonly skip: (reason: string) => void;
}

async function measureAll(terms: Terms): Promise<Measured[]> {
  const { folder, cuda, threads, skip } = terms;
  const files = await programFiles("");
  const { nativeDirectory, speechModel, onnxBinding, segmentationModel, embeddingModel } = files;
  const verdictsPath = join(folder, "devices.json");
  const withSample = <T>(use: (pcmPath: string) => Promise<T>) => withSpeechSample(files, use);
  const selfTest = { command: programCommand("__selftest"), nativeDirectory, verdictsPath, signal: never };
  const { cpuLibrary } = await chooseCpuLibraryFor(selfTest, [speechModel]);
  const common = {
    ...{ type: "start" as const, nativeDirectory, cpuLibrary, onnxBinding, segmentationModel, embeddingModel },
  };
  const gpusOf = async (kind: GpuBackendKind): Promise<readonly Gpu[]> => {
    const { gpus, leftOut } = await chooseGpus({
      ...{ ...selfTest, cpuLibrary, speechModel, cudaLibrary: cuda, withSample, mustBeFaster: false },
      backends: (backend) => backend === kind,
      allows: () => true,
    });
    for (const { library, gpu, reason } of leftOut) skip(`${gpu ?? library}: ${reason}`);
    return gpus;
  };
  const large = largeModel(terms, speechModel);
  const results: Measured[] = [];
  for (const { kind } of gpuBackends(nativeDirectory, cuda)) {
    for (const gpu of await gpusOf(kind)) {
      const start = { ...common, speechModel, gpu, threads, speechThreads: threads, lanes: 1 };
      const about = { gpu: gpu.label, name: gpu.name };
      const onMeasured = (speed: LaneSpeed) => progress(`${gpu.label}, base: ${describe(speed)}`);
      const log = createLogger("silent");
      const options = { command: programCommand("__worker"), verdictsPath, withSample, log, signal: never, onMeasured };
      const { measured, failed } = await tuneDevice({ start, threads }, options);
      const stopped = failed === undefined ? null : `${failed.lanes} at once: ${failed.reason}`;
      results.push({ ...about, model: "base", speeds: measured, stopped });
      if (large === null) continue;
      const found = await measureLarge({ ...start, speechModel: large }, threads);
      results.push({ ...about, model: "large-v3-turbo, random", ...found });
    }
  }
  return results;
}

/** Writes the large model. @returns null if it is left out */
function largeModel({ folder, onlyBase, skip }: Terms, wordsOf: string): string | null {
  if (onlyBase) return null;
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < 2 * RANDOM_WHISPER_BYTES) {
    skip(`the large model: ${tmpdir()} has no space for it`);
    return null;
  }
  const path = join(folder, "large.bin");
  progress("writing the large model …");
  writeRandomWhisper(path, wordsOf);
  return path;
}

/** Measures one greedy pass for each window: random weights have no words that end a text early. */
async function measureLarge(start: WorkerStart, threads: number): Promise<Pick<Measured, "speeds" | "stopped">> {
  const speeds: LaneSpeed[] = [];
  /** Reasons by whether operations were decoded together. */
  const failures = new Map<boolean, string>();
  for (const { lanes, slots = 1 } of LARGE_SHARES) {
    const shares = { lanes, threads: threadsOf(threads, lanes), ...(slots > 1 ? { slots } : {}) };
    // More operations of the same kind would fail, too.
    if (failures.has(slots > 1)) continue;
    const ended = Promise.withResolvers<never>();
    const engine = new Engine({
      command: programCommand("__worker"),
      prepare: async () => [{ ...start, ...shares, role: "speech", speechThreads: shares.threads }],
      log: createLogger("silent"),
      onUnexpectedExit: ({ gpuFailure, signal }) =>
        ended.reject(new Error(gpuFailure?.message ?? `ended by ${signal}`)),
    });
    const pass = async () => void (await engine.run("selfTest", { model: start.speechModel }, never));
    try {
      const perSecond = await Promise.race([operationsPerSecond(lanes, MIN_SECONDS, pass), ended.promise]);
      const memory = engine.status().workers[0]?.gpuMemory ?? null;
      const used = memory === null ? {} : { gpuBytes: memory.totalBytes - memory.freeBytes };
      const speed = { ...shares, speed: WINDOW_SECONDS * perSecond, ...used };
      speeds.push(speed);
      progress(`${start.gpu?.label}, large: ${describe(speed)}`);
    } catch (error) {
      failures.set(slots > 1, `${lanes} at once${inSlots(shares)}: ${messageOf(error)}`);
    } finally {
      await engine.close();
    }
  }
  return { speeds, stopped: [...failures.values()].join("; ") || null };
}

function describe(shares: LaneSpeed): string {
  const { lanes, speed, gpuBytes } = shares;
  const memory = gpuBytes === undefined ? "" : `, ${inMib(gpuBytes)} in use`;
  return `${lanes} at once${inSlots(shares)}, ${speed.toFixed(1)} × real time${memory}`;
}

function print({ gpu, name, model, speeds, stopped }: Measured): void {
  const best = bestShares(speeds);
  const lines = speeds.map((shares) => [
    `${shares.lanes}${shares === best ? " *" : ""}`,
    slotsOf(shares) > 1 ? "together" : "alone",
    shares.speed.toFixed(1),
    shares.gpuBytes === undefined ? "" : String(Math.round(shares.gpuBytes / MIB)),
  ]);
  console.log(`\n${gpu} (${name}), ${model}; * is used`);
  console.log(asText({ head: ["at once", "decoded", "× real time", "GPU memory in use, MiB"], lines }));
  if (stopped !== null) console.log(`Not measured: ${stopped}`);
}
