import { type Static, Type } from "@sinclair/typebox";

const count = Type.Integer({ minimum: 1 });

/** How a device is divided among operations. */
export const laneSharesSchema = Type.Object({
  /** Number of operations at once. */
  lanes: count,
  /** CPU threads of each operation. */
  threads: count,
  /** Operations whose texts the recognizer decodes together, each in a slot; absent: each decodes alone. */
  slots: Type.Optional(count),
});
export type LaneShares = Static<typeof laneSharesSchema>;

/** The throughput of a device with some shares. */
export const laneSpeedSchema = Type.Composite([
  laneSharesSchema,
  Type.Object({
    /** Seconds of audio that are transcribed in one second. */
    speed: Type.Number({ minimum: 0 }),
    /** Memory of the GPU that is in use, by all programs; absent on a CPU. */
    gpuBytes: Type.Optional(Type.Number({ minimum: 0 })),
  }),
]);
export type LaneSpeed = Static<typeof laneSpeedSchema>;

/** Shares that ended a worker. */
const failedSharesSchema = Type.Composite([laneSharesSchema, Type.Object({ reason: Type.String() })]);

/** The measured lanes of a device with a model. */
export const tuningSchema = Type.Object({
  /** The measured device, for people who read the file, and for `doctor`: label and name of the GPU, or `CPU` twice. */
  device: Type.String(),
  name: Type.String(),
  library: Type.String(),
  /** Path of the speech model. */
  model: Type.String(),
  /** CPU threads that all operations share. */
  threads: Type.Integer({ minimum: 1 }),
  version: Type.String(),
  measured: Type.Array(laneSpeedSchema),
  /** Whether everything that is worth measuring was measured. */
  isComplete: Type.Boolean(),
  /** Shares that are being measured. A later start finds them if the program or the machine crashed meanwhile. */
  trying: Type.Optional(laneSharesSchema),
  /** Shares that ended a worker. They and more lanes are not used again. */
  failed: Type.Optional(failedSharesSchema),
  /** Shares with slots that ended a worker. As many slots, or more, are not used again. */
  failedSlots: Type.Optional(failedSharesSchema),
  /** Time of the last measurement in milliseconds since the epoch. */
  measuredAt: Type.Number(),
});
export type Tuning = Static<typeof tuningSchema>;

/** Operations of a GPU at once before they are measured. One at a time would leave it idle between two. */
export const UNMEASURED_GPU_LANES = 5;

/** Numbers of operations at once that are measured on a GPU. On one H100 the speed still grew up to 16 (docs/gpu.md). */
const GPU_LANES = [1, 2, 3, 4, 6, 8, 12, 16];

/** Returns the shares of a GPU that are worth measuring, in the order of the measurement. */
export function sharesOfGpu(threads: number): LaneShares[] {
  return GPU_LANES.map((lanes) => ({ lanes, threads: threadsOf(threads, lanes) }));
}

/** Numbers of slots that are measured on a GPU. A step of the decoder takes hardly longer with more rows, up to some hundred. */
const SLOTS = [4, 8, 16, 32, 64];

/** Returns the shares with slots that are worth measuring on a GPU: each operation has one. */
export function slotSharesOf(threads: number): LaneShares[] {
  return SLOTS.map((slots) => ({ lanes: slots, threads: threadsOf(threads, slots), slots }));
}

/** Returns the number of slots; 1: each operation decodes alone. */
export function slotsOf({ slots = 1 }: Pick<LaneShares, "slots">): number {
  return slots;
}

/**
 * Returns how many of a GPU's lanes have a slot. The measured number holds only for the measured lanes: a setting or a
 * failure at work may have changed them.
 * @param settings numbers by setting; 0: by measurement
 */
export function slotsWith(
  lanes: number,
  measured: LaneShares | null,
  settings: { readonly lanes: number; readonly decoderSlots: number },
): number {
  if (settings.decoderSlots > 0) return Math.min(settings.decoderSlots, lanes);
  return measured?.lanes === lanes && settings.lanes === 0 ? slotsOf(measured) : 1;
}

/** Returns that operations are decoded together, for people; empty if each is alone. */
export function inSlots(shares: Pick<LaneShares, "slots">): string {
  const slots = slotsOf(shares);
  return slots > 1 ? ` (${slots} decoded together)` : "";
}

/** Up to this number of threads, each operation gets one, see cpuShares. */
const MAX_UNDIVIDED_THREADS = 4;

/** Returns the divisions of a CPU that are worth measuring, e.g. 1×8, 2×4, 4×2 and 8×1 threads; none on a small CPU. */
export function sharesOfCpu(threads: number): LaneShares[] {
  if (threads <= MAX_UNDIVIDED_THREADS) return [];
  const powers = Array.from({ length: 1 + Math.floor(Math.log2(threads)) }, (_, power) => 2 ** power);
  return powers.map((lanes) => ({ lanes, threads: threadsOf(threads, lanes) }));
}

/** Returns each operation's share of the threads. */
export function threadsOf(threads: number, lanes: number): number {
  return Math.max(1, Math.floor(threads / lanes));
}

/** Share of the best speed that fewer lanes must reach. They need less memory, and a recording alone is as fast. */
const ENOUGH_OF_BEST = 0.95;

/** Returns the smallest number of lanes that is nearly as fast as the best, if possible without slots; null if nothing was measured. */
export function bestShares(measured: readonly LaneSpeed[]): LaneSpeed | null {
  const best = Math.max(...measured.map(({ speed }) => speed));
  const enough = measured.filter(({ speed }) => speed >= ENOUGH_OF_BEST * best);
  return enough.toSorted((a, b) => a.lanes - b.lanes || slotsOf(a) - slotsOf(b))[0] ?? null;
}

/** Number of consecutive measurements without a new best speed after which more lanes are not measured. */
const MAX_WITHOUT_GAIN = 2;

/** Returns whether the last measurements found no faster shares, so that more lanes are not worth measuring. */
export function hasPeaked(measured: readonly LaneSpeed[]): boolean {
  const before = measured.slice(0, -MAX_WITHOUT_GAIN);
  const best = Math.max(0, ...before.map(({ speed }) => speed));
  return before.length > 0 && measured.slice(-MAX_WITHOUT_GAIN).every(({ speed }) => speed <= best);
}

/** Share of a GPU's memory that stays free, for the driver and other programs. */
const GPU_RESERVE = 0.1;

/**
 * Returns whether a GPU has the memory for more lanes, if each takes as much as those that were added last.
 * @param totalBytes memory of the GPU; null if it is not known
 */
export function fitsGpu(next: LaneShares, measured: readonly LaneSpeed[], totalBytes: number | null): boolean {
  const [last, before] = [measured.at(-1), measured.at(-2)];
  if (totalBytes === null || last?.gpuBytes === undefined) return true;
  const added = before?.gpuBytes === undefined ? 0 : (last.gpuBytes - before.gpuBytes) / (last.lanes - before.lanes);
  const expected = last.gpuBytes + Math.max(0, added) * (next.lanes - last.lanes);
  return expected <= (1 - GPU_RESERVE) * totalBytes;
}

/** GPU memory of a process, and of one lane, next to the weights. An H100 needed 1.1 GB for base, whose weights have 0.15. */
const GPU_WORKER_BYTES = 1e9;

/**
 * Returns whether a GPU has the memory for a measurement next to the server's own worker.
 * @param freeBytes free memory of the GPU; null if it is not known
 */
export function fitsTwice(modelBytes: number, freeBytes: number | null): boolean {
  return freeBytes === null || modelBytes + GPU_WORKER_BYTES <= freeBytes;
}

/** Share of the available memory that the recognizer may take on a CPU. */
const CPU_MEMORY_SHARE = 0.5;

/** Returns whether the memory suffices for the recognizer's lanes on the CPU. */
export function fitsCpu({ lanes }: LaneShares, modelBytes: number, availableBytes: number): boolean {
  return modelBytes + lanes * laneBytes(modelBytes) <= CPU_MEMORY_SHARE * availableBytes;
}

/**
 * Returns the working memory of one operation of the recognizer, which grows with the size of the model. whisper.cpp's
 * README gives these totals: tiny 273 MB (75 on disk), base 388 (142), small 852 (466), medium 2.1 GB (1.5), large 3.9 GB
 * (2.9).
 */
export function laneBytes(modelBytes: number): number {
  return modelBytes * 0.3 + 150e6;
}
