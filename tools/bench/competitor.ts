import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Device } from "../../harness/device.ts";
import { recordingNameSchema } from "./recordings.ts";

const seconds = Type.Number({ minimum: 0 });

const figuresSchema = Type.Object({
  /** Time until all recordings are completed, after models are loaded. */
  seconds,
  /** CPU time of all threads and processes. */
  cpuSeconds: seconds,
  /** Peak resident memory in bytes by kind of process. */
  peakBytes: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
  /** Steps that the program reports itself. */
  steps: Type.Array(
    Type.Object({
      name: Type.String(),
      seconds,
      /** Number of calls; null when the program does not report it. */
      count: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
    }),
  ),
  texts: Type.Array(Type.String()),
  /** How the program computes on the CPU, if it reports it. */
  kernels: Type.Optional(Type.String()),
});
export type Figures = Static<typeof figuresSchema>;

const runSchema = Type.Object({
  recording: recordingNameSchema,
  /** Number of copies sent at the same time. */
  atOnce: Type.Integer({ minimum: 1 }),
  /** The competitor's name. */
  by: Type.String(),
  figures: figuresSchema,
});
export type Run = Static<typeof runSchema>;

export interface RunSettings {
  readonly threads: number;
  /** ISO code; null when each program detects the language. */
  readonly language: string | null;
  /** The only CPU variant that our program and whisper-cli may use; `auto`: the fastest. */
  readonly cpu: string;
  /** Settings of our program that select the CPU variant. */
  readonly cpuSettings: Readonly<Record<string, string>>;
  /** The GPU that our program uses; null when it chooses its device. The other programs use the CPU. */
  readonly gpu: Device | null;
}

export interface Competitor {
  /** Name with version and settings: `whisper-cli 1.9.1, beam 5`. */
  readonly name: string;
  /** Transcribes recordings that arrive at the same time, as fast as possible. */
  run(files: readonly string[]): Promise<Figures>;
}

/** Prepares the variants of one program. @throws {Error} with the reason when the program is unavailable */
export type CompetitorFactory = (settings: RunSettings) => Promise<readonly Competitor[]>;

const benchSchema = Type.Object({
  date: Type.String(),
  commit: Type.String(),
  machine: Type.String(),
  threads: Type.Integer(),
  /** ISO code that was given to all programs; null when each detected the language. */
  language: Type.Union([Type.String(), Type.Null()]),
  /** The only CPU variant that was allowed; `auto`: the fastest. */
  cpu: Type.String(),
  runs: Type.Array(runSchema),
});
/** Runs with their common circumstances. */
export type Bench = Static<typeof benchSchema>;

/** Circumstances that must be equal when runs are combined; only the day may differ. */
const common = ["commit", "machine", "threads", "cpu", "language"] as const;

/**
 * Reads the runs that earlier calls wrote with --json. @throws {Error} with the file that cannot be combined, and the
 * reason
 */
export async function readRuns(paths: readonly string[], now: Omit<Bench, "runs">): Promise<Bench["runs"]> {
  const kept: Bench["runs"] = [];
  for (const path of paths) {
    const bench: unknown = await Bun.file(path)
      .json()
      .catch(() => null);
    if (!Value.Check(benchSchema, bench)) throw new Error(`${path} was not written by --json`);
    const other = common.find((key) => bench[key] !== now[key]);
    if (other !== undefined) throw new Error(`${path} has another ${other}: ${bench[other]}, not ${now[other]}`);
    kept.push(...bench.runs);
  }
  return kept;
}
