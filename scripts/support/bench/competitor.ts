import { type Static, Type } from "@sinclair/typebox";
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
export interface Terms {
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
export type Entry = (terms: Terms) => Promise<readonly Competitor[]>;
