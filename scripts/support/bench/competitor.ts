import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { messageOf } from "../../../src/text/index.ts";
import { recordingNameSchema } from "./recordings.ts";

const seconds = Type.Number({ minimum: 0 });

const figuresSchema = Type.Object({
  /** Until all recordings are done, with models loaded. */
  seconds,
  /** Of all threads and processes. */
  cpuSeconds: seconds,
  /** The most resident memory of each kind of process, in bytes. */
  peakBytes: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
  /** What it tells of its own steps. */
  steps: Type.Array(
    Type.Object({
      name: Type.String(),
      seconds,
      /** How often it was done; null where that is not told. */
      count: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
    }),
  ),
  /** What was heard, recording by recording. */
  texts: Type.Array(Type.String()),
});
/** What came of transcribing some recordings. */
export type Figures = Static<typeof figuresSchema>;

export const runSchema = Type.Object({
  recording: recordingNameSchema,
  /** How often it was sent at once. */
  atOnce: Type.Integer({ minimum: 1 }),
  /** The competitor's name. */
  by: Type.String(),
  figures: figuresSchema,
});
/** One run of one competitor. */
export type Run = Static<typeof runSchema>;

/** What all competitors are told. */
export interface RunSettings {
  readonly threads: number;
  /** ISO code; null: everybody finds it out. */
  readonly language: string | null;
}

/** A program that transcribes. */
export interface Competitor {
  /** With version and settings: `whisper-cli 1.9.1, beam 5`. */
  readonly name: string;
  /** Transcribes recordings that come at the same time, as fast as it can do them all. */
  run(files: readonly string[]): Promise<Figures>;
}

/** Competitors of one make, put together and made ready. @throws Error that says why they can't take part */
export type CompetitorFactory = (terms: RunSettings) => Promise<readonly Competitor[]>;

const benchSchema = Type.Object({
  date: Type.String(),
  commit: Type.String(),
  machine: Type.String(),
  threads: Type.Integer(),
  /** ISO code that all were told; null: everybody found it out. */
  language: Type.Union([Type.String(), Type.Null()]),
  runs: Type.Array(runSchema),
});
/** Runs, and what they have in common. */
export type Bench = Static<typeof benchSchema>;

/** All but the runs and their day has to be the same where runs are put together. */
const common = ["commit", "machine", "threads", "language"] as const;

/** The runs that earlier calls kept with --json. @throws Error that says which file they can't be taken from, and why */
export async function readRuns(paths: readonly string[], now: Omit<Bench, "runs">): Promise<Bench["runs"]> {
  const kept: Bench["runs"] = [];
  for (const path of paths) {
    const bench = await readBench(path);
    const other = common.find((key) => bench[key] !== now[key]);
    if (other !== undefined) throw new Error(`${path} is of another ${other}: ${bench[other]}, not ${now[other]}`);
    kept.push(...bench.runs);
  }
  return kept;
}

async function readBench(path: string): Promise<Bench> {
  try {
    return Value.Parse(benchSchema, await Bun.file(path).json());
  } catch (error) {
    throw new Error(`${path} is not what --json has written: ${messageOf(error)}`);
  }
}
