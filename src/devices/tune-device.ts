import { rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Engine, type EngineOptions } from "../engine/index.ts";
import { memoryOf } from "../machine/index.ts";
import type { GpuMemory } from "../operations/index.ts";
import { ownCommand } from "../program/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type Chunk, SAMPLE_RATE, type WorkArea } from "../timeline/index.ts";
import { reasonOfExit } from "./gpu-fallback.ts";
import type { GpuTestOptions } from "./gpu-self-test.ts";
import {
  fitsCpu,
  fitsGpu,
  fitsTwice,
  hasPeaked,
  type LaneShares,
  type LaneSpeed,
  sharesOfCpu,
  sharesOfGpu,
  slotSharesOf,
  slotsOf,
  type Tuning,
} from "./lane-shares.ts";
import { readTuning, storeTuning, type TunedDevice } from "./tunings.ts";

export interface TuneOptions {
  /** JSON file that stores the self-test results. */
  readonly verdictsPath: string;
  readonly withSample: GpuTestOptions["withSample"];
  /** The server's log, in which the worker of a measurement writes nothing. */
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Path of the encoder in ONNX form, where the CPU uses that. */
  readonly encoder?: string | undefined;
  /** Memory of the GPU before the measurement; null if it is not known. */
  readonly gpuMemory?: GpuMemory | null;
  /** Whether everything is measured, also what was measured or failed before. */
  readonly again?: boolean;
  /** Called after each measurement. */
  readonly onMeasured?: (speed: LaneSpeed) => void;
  /** Command line that starts a worker; this program's by default. */
  readonly command?: EngineOptions["command"];
  /** Minimum duration of a measurement. The worker reports the memory of its GPU once a second. */
  readonly minSeconds?: number;
  /** Returns the milliseconds of a monotonic clock; that of this process by default. */
  readonly now?: () => number;
}

/** Minimum duration of a measurement. On one H100 with base, each lane completes 20 operations in this time. */
const MIN_SECONDS = 2;
/** Minimum number of operations that each lane completes: with fewer, the last one decides about the result. */
const MIN_OPERATIONS = 2;

/** Length of the transcribed chunks, like those of recordings. */
const CHUNK_SECONDS = 22;
/** Number of different chunks, each half a second after the other, in case results are reused anywhere. */
const CHUNKS = 20;

/** Returns what is worth measuring on a device; nothing on a CPU with few threads. */
export function candidatesOf({ start, threads }: TunedDevice): LaneShares[] {
  return start.gpu === undefined ? sharesOfCpu(threads) : sharesOfGpu(threads);
}

/**
 * Measures the throughput of a device with several numbers of lanes, and on a GPU also with as many slots, each in a worker
 * process of its own. Stores each result and continues an earlier measurement. Shares that end a worker are
 * stored as failed and not tried again, unless a person asks for it.
 * @throws the signal's reason, after the worker was killed
 */
export async function tuneDevice(device: TunedDevice, options: TuneOptions): Promise<Tuning> {
  const { verdictsPath, withSample, signal } = options;
  let tuning = readTuning(verdictsPath, device);
  const store = (changes: Partial<Tuning>) => {
    const { trying: _, ...before } = tuning;
    tuning = { ...before, ...changes };
    storeTuning(verdictsPath, tuning);
  };
  if (options.again === true) {
    const { failed: _, failedSlots: __, ...known } = tuning;
    tuning = { ...known, measured: [], isComplete: false };
  }
  if (tuning.isComplete || candidatesOf(device).length === 0) return tuning;
  const { gpuMemory: memoryBefore = null } = options;
  let gpuBytes = memoryBefore?.totalBytes ?? null;
  const modelBytes = (await stat(device.start.speechModel)).size;
  await withChunks(withSample, async (area) => {
    /** Returns whether the worker survived the measurement. */
    const tryOut = async (shares: LaneShares): Promise<boolean> => {
      signal.throwIfAborted();
      store({ trying: shares });
      try {
        const { speed, gpuMemory } = await measure(device, shares, area, options);
        gpuBytes = gpuMemory?.totalBytes ?? gpuBytes;
        store({ measured: [...tuning.measured, speed], measuredAt: Date.now() });
        options.onMeasured?.(speed);
        return true;
      } catch (error) {
        const hasEnded = error instanceof WorkerEndedError && !signal.aborted;
        const failure = hasEnded ? { ...shares, reason: error.message } : undefined;
        const hasSlots = slotsOf(shares) > 1;
        store(failure === undefined ? {} : { [hasSlots ? "failedSlots" : "failed"]: failure, measuredAt: Date.now() });
        if (!hasEnded) throw error;
        return false;
      }
    };
    const withSlots = device.start.gpu === undefined ? [] : slotSharesOf(device.threads);
    for (const candidates of [candidatesOf(device), withSlots]) {
      for (const shares of candidates) {
        const { measured } = tuning;
        const alike = measured.filter((other) => slotsOf(other) > 1 === slotsOf(shares) > 1);
        if (alike.some(({ lanes }) => lanes === shares.lanes)) continue;
        const failed = slotsOf(shares) > 1 ? tuning.failedSlots : tuning.failed;
        const isUnsafe = failed !== undefined && shares.lanes >= failed.lanes;
        if (isUnsafe || hasPeaked(alike) || !fits(shares, alike.length === 0 ? measured : alike)) break;
        if (!(await tryOut(shares))) break;
      }
    }
  });
  store({ isComplete: true });
  return tuning;

  function fits(shares: LaneShares, measured: readonly LaneSpeed[]): boolean {
    if (device.start.gpu === undefined) return fitsCpu(shares, modelBytes, memoryOf().availableBytes);
    if (measured.length === 0 && !fitsTwice(modelBytes, memoryBefore?.freeBytes ?? null)) return false;
    return fitsGpu(shares, measured, gpuBytes);
  }
}

/** Error if a worker ended during a measurement; the message is the reason. */
class WorkerEndedError extends Error {
  override readonly name = "WorkerEndedError";
}

/** @throws {WorkerEndedError} if the worker ends; the signal's reason */
async function measure(
  { start }: TunedDevice,
  shares: LaneShares,
  area: WorkArea,
  options: TuneOptions,
): Promise<{ speed: LaneSpeed; gpuMemory: GpuMemory | null }> {
  const { lanes, threads, slots } = shares;
  const { slots: _, ...own } = start;
  const common = slots === undefined ? own : { ...own, slots };
  const ended = Promise.withResolvers<never>();
  const engine = new Engine({
    command: options.command ?? ownCommand("__worker"),
    prepare: async () => [{ ...common, role: "speech", threads, speechThreads: threads, lanes }],
    log: options.log.child({}, { level: "silent" }),
    onUnexpectedExit(exit) {
      const reason = exit.signal === null ? `the worker exited with code ${exit.exitCode}` : reasonOfExit(exit);
      ended.reject(new WorkerEndedError(reason));
      // Starts no other worker.
      void engine.close();
    },
  });
  try {
    const speed = await Promise.race([speedOf(engine, start.speechModel, lanes, area, options), ended.promise]);
    const gpuMemory = engine.status().workers[0]?.gpuMemory ?? null;
    const used = gpuMemory === null ? {} : { gpuBytes: gpuMemory.totalBytes - gpuMemory.freeBytes };
    return { speed: { ...shares, speed, ...used }, gpuMemory };
  } finally {
    await engine.close();
  }
}

/** Returns the seconds of audio that are transcribed in one second, with all lanes busy. */
async function speedOf(
  engine: Engine,
  model: string,
  lanes: number,
  area: WorkArea,
  { encoder, signal, minSeconds = MIN_SECONDS, now }: TuneOptions,
): Promise<number> {
  let chunks = 0;
  const transcribe = async () => {
    const startSeconds = (chunks++ % CHUNKS) / 2;
    const span = { startSeconds, endSeconds: startSeconds + CHUNK_SECONDS };
    const chunk: Chunk = { ...span, speech: [span] };
    const using = encoder === undefined ? { model } : { model, encoder };
    await engine.run("transcribe", { area, chunk, ...using, language: "en" }, signal);
  };
  return CHUNK_SECONDS * (await operationsPerSecond(lanes, minSeconds, transcribe, now));
}

/** Returns how many operations complete in one second with all lanes busy. */
export async function operationsPerSecond(
  lanes: number,
  minSeconds: number,
  operation: () => Promise<void>,
  now = () => performance.now(),
): Promise<number> {
  const inEachLane = (work: () => Promise<void>) => Promise.all(Array.from({ length: lanes }, work));
  // The first operation of each lane allocates its memory.
  await inEachLane(operation);
  const started = now();
  let operations = 0;
  await inEachLane(async () => {
    for (let own = 0; own < MIN_OPERATIONS || now() - started < minSeconds * 1000; own++) {
      await operation();
      operations += 1;
    }
  });
  return operations / ((now() - started) / 1000);
}

/** Calls `use` with a recording that repeats the sample, long enough for all chunks, in the sample's directory. */
async function withChunks(
  withSample: TuneOptions["withSample"],
  use: (area: WorkArea) => Promise<void>,
): Promise<void> {
  await withSample(async (pcmPath) => {
    const directory = dirname(pcmPath);
    const path = join(directory, "chunks.pcm");
    const sampleCount = (CHUNK_SECONDS + CHUNKS / 2) * SAMPLE_RATE;
    const clip = new Int16Array(await Bun.file(pcmPath).arrayBuffer());
    try {
      await Bun.write(
        path,
        Int16Array.from({ length: sampleCount }, (_, at) => clip[at % clip.length] ?? 0),
      );
      await use({ directory, pcm: { path, sampleCount } });
    } finally {
      await rm(path, { force: true });
    }
  });
}
