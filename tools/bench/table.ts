import { countErrors } from "../../harness/wer.ts";
import { type Rate, sum, unitsOf } from "../evaluate/measure-words.ts";
import { Scorer } from "../evaluate/scorer.ts";
import type { Figures, Run } from "./competitor.ts";
import type { BenchRecording, RecordingName } from "./recordings.ts";

/** The runs of one competitor with one recording and number of copies. */
export interface Row {
  readonly recording: RecordingName;
  readonly atOnce: number;
  readonly by: string;
  readonly runs: number;
  /** Medians. */
  readonly seconds: number;
  readonly timesRealTime: number;
  readonly cpuSeconds: number;
  /** Seconds relative to ours; null when ours was not measured. */
  readonly relativeToOurs: number | null;
  /** Maximum of all runs by kind of process. */
  readonly peakBytes: Figures["peakBytes"];
  /** Word errors over all runs; null when the recording has no reference text. */
  readonly wordErrors: Rate | null;
  /** Medians. */
  readonly steps: Figures["steps"];
}

export interface TableOptions {
  readonly recordings: readonly { readonly name: RecordingName; readonly seconds: number }[];
  /** Name of the competitor with which the others are compared. */
  readonly ours: string;
  /** Returns the word errors of a transcript; null when the recording has no reference text. */
  readonly errorsIn: (recording: RecordingName, text: string) => Rate | null;
}

/** Returns the table's rows: recordings in order, single copies before several, the fastest first. */
export function rowsOf(runs: readonly Run[], { recordings, ours, errorsIn }: TableOptions): Row[] {
  const placeOf = (wanted: RecordingName) => recordings.findIndex(({ name }) => name === wanted);
  const kinds = [...Map.groupBy(runs, ({ recording, atOnce }) => `${recording} ${atOnce}`).values()];
  const rows = kinds.flatMap((ofKind) => {
    const competitors = Map.groupBy(ofKind, ({ by }) => by);
    const own = competitors.get(ours);
    return [...competitors].map(([by, its]): Row => {
      const { recording, atOnce } = its[0] as Run;
      const figures = its.map((run) => run.figures);
      const seconds = secondsOf(its);
      const length = (recordings[placeOf(recording)]?.seconds ?? Number.NaN) * atOnce;
      const errors = figures.flatMap(({ texts }) => texts.map((text) => errorsIn(recording, text)));
      return {
        ...{ recording, atOnce, by, runs: its.length, seconds },
        timesRealTime: length / seconds,
        cpuSeconds: median(figures.map(({ cpuSeconds }) => cpuSeconds)),
        relativeToOurs: own === undefined ? null : seconds / secondsOf(own),
        peakBytes: greatest(figures),
        wordErrors: errors.every((one) => one !== null) ? sum(errors) : null,
        steps: mediansOfSteps(figures),
      };
    });
  });
  return rows.toSorted(
    (a, b) => placeOf(a.recording) - placeOf(b.recording) || a.atOnce - b.atOnce || a.seconds - b.seconds,
  );
}

function secondsOf(runs: readonly Run[]): number {
  return median(runs.map(({ figures }) => figures.seconds));
}

function greatest(figures: readonly Figures[]): Record<string, number> {
  const peaks: Record<string, number> = {};
  for (const [name, bytes] of figures.flatMap(({ peakBytes }) => Object.entries(peakBytes))) {
    peaks[name] = Math.max(peaks[name] ?? 0, bytes);
  }
  return peaks;
}

function mediansOfSteps(figures: readonly Figures[]): Figures["steps"] {
  const steps = Map.groupBy(
    figures.flatMap((one) => one.steps),
    ({ name }) => name,
  );
  return [...steps].map(([name, its]) => ({
    ...{ name, seconds: median(its.map(({ seconds }) => seconds)), count: its[0]?.count ?? null },
  }));
}

/** Returns the median; the mean of the two middle values of an even number. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/**
 * Returns the median duration of a function in milliseconds, after a warm-up of a tenth of the repetitions.
 * @param once receives the number of previous calls
 */
export async function medianTime(times: number, once: (index: number) => unknown): Promise<number> {
  const warmUp = Math.ceil(times / 10);
  const taken: number[] = [];
  for (let index = 0; index < warmUp + times; index++) {
    const startedAt = performance.now();
    await once(index);
    if (index >= warmUp) taken.push(performance.now() - startedAt);
  }
  return median(taken);
}

const language = "en";

/**
 * Returns a function that counts the word errors of transcripts, normalized as in scripts/evaluate.
 * @throws {CommandError} when the normalizer is unavailable
 */
export async function wordErrorsOf(recordings: readonly BenchRecording[], runs: readonly Run[]) {
  const said = new Map(recordings.map(({ name, text }) => [name, text]));
  const heard = runs.filter(({ recording }) => said.get(recording) !== null).flatMap(({ figures }) => figures.texts);
  if (heard.length === 0) return () => null;
  const scorer = await Scorer.install();
  const normalise = await scorer.normalise(
    [...said.values(), ...heard].filter((text) => typeof text === "string").map((text) => [language, text] as const),
  );
  const counted = new Map<string, Rate>();
  return (recording: RecordingName, text: string): Rate | null => {
    const reference = said.get(recording) ?? null;
    if (reference === null) return null;
    const key = `${recording} ${text}`;
    const known = counted.get(key);
    if (known !== undefined) return known;
    const count = countErrors(
      ...([reference, text].map((one) => unitsOf(normalise, language, one)) as [string[], string[]]),
    );
    const { substitutions, deletions, insertions, length } = count;
    const rate = { errors: substitutions + deletions + insertions, length };
    counted.set(key, rate);
    return rate;
  };
}
