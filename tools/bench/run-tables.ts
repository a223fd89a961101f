import { errorsIn, installScorer, type Rate, sum } from "../corpus/index.ts";
import { cpuTerms } from "../shared/cpu-variant.ts";
import { MIB, median, percent, total } from "../shared/figures.ts";
import { headingOf, type Table } from "../shared/table.ts";
import type { Bench, Figures, Run } from "./competitor.ts";
import type { BenchRecording, RecordingName } from "./recordings.ts";

/** The runs of one competitor with one recording and number of copies. */
export type Row = ReturnType<typeof rowsOf>[number];

interface RowOptions {
  readonly recordings: readonly Pick<BenchRecording, "name" | "seconds">[];
  /** Name of the competitor with which the others are compared. */
  readonly ours: string;
  /** Returns the word errors of a transcript; null when the recording has no reference text. */
  readonly errorsIn: (recording: RecordingName, text: string) => Rate | null;
}

/** Returns the table's rows: recordings in order, single copies before several, the fastest first. */
export function rowsOf(runs: readonly Run[], { recordings, ours, errorsIn }: RowOptions) {
  const placeOf = (wanted: RecordingName) => recordings.findIndex(({ name }) => name === wanted);
  const kinds = Map.groupBy(runs, ({ recording, atOnce }) => `${recording} ${atOnce}`);
  const rows = [...kinds.values()].flatMap((ofKind) => {
    const competitors = Map.groupBy(ofKind, ({ by }) => by);
    const own = competitors.get(ours);
    return [...competitors].map(([by, its]) => {
      const { recording, atOnce } = its[0] as Run;
      const figures = its.map((run) => run.figures);
      const seconds = secondsOf(its);
      const length = (recordings[placeOf(recording)]?.seconds ?? Number.NaN) * atOnce;
      const errors = figures.flatMap(({ texts }) => texts.map((text) => errorsIn(recording, text)));
      return {
        ...{ recording, atOnce, by, runs: its.length },
        // Medians, also of the steps.
        ...{ seconds, timesRealTime: length / seconds, steps: mediansOfSteps(figures) },
        cpuSeconds: median(figures.map(({ cpuSeconds }) => cpuSeconds)),
        /** Null when ours was not measured. */
        relativeToOurs: own === undefined ? null : seconds / secondsOf(own),
        /** Maximum of all runs by kind of process. */
        peakBytes: greatest(figures),
        /** Over all runs; null when the recording has no reference text. */
        wordErrors: errors.every((one) => one !== null) ? sum(errors) : null,
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
  const all = figures.flatMap(({ steps }) => steps);
  return [...Map.groupBy(all, ({ name }) => name)].map(([name, its]) => ({
    ...{ name, seconds: median(its.map(({ seconds }) => seconds)), count: its[0]?.count ?? null },
  }));
}

/** All recordings with a reference text are English. */
const LANGUAGE = "en";

/**
 * Returns a function that counts the word errors of transcripts, normalized as in scripts/evaluate.
 * @throws {CommandError} when the normalizer is unavailable
 */
export async function wordErrorsOf(recordings: readonly BenchRecording[], runs: readonly Run[]) {
  const said = new Map(recordings.flatMap(({ name, text }) => (text === null ? [] : [[name, text] as const])));
  const heard = runs.filter(({ recording }) => said.has(recording)).flatMap(({ figures }) => figures.texts);
  if (heard.length === 0) return () => null;
  const scorer = await installScorer();
  const normalise = await scorer.normalise([...said.values(), ...heard].map((text) => [LANGUAGE, text] as const));
  return (recording: RecordingName, text: string): Rate | null => {
    const reference = said.get(recording);
    return reference === undefined ? null : errorsIn(normalise, LANGUAGE, reference, text);
  };
}

export function overview(rows: readonly Row[]): Table {
  return {
    head: [
      ...["recording", "parallel", "program", "seconds", "× real time", "relative to ours", "CPU s", "peak MiB", "WER"],
    ],
    lines: rows.map((row) => [
      ...[row.recording, String(row.atOnce), row.by, row.seconds.toFixed(1), row.timesRealTime.toFixed(1)],
      ...[row.relativeToOurs === null ? "" : row.relativeToOurs.toFixed(2), row.cpuSeconds.toFixed(1)],
      Object.entries(row.peakBytes)
        .map(([name, bytes]) => `${name} ${Math.round(bytes / MIB)}`)
        .join(", "),
      row.wordErrors === null ? "" : percent(row.wordErrors.errors / row.wordErrors.length),
    ]),
  };
}

/**
 * Returns the time of each step for programs that report it, one recording at a time. In ours, several steps run at the
 * same time on threads of their own.
 */
export function stepsTable(rows: readonly Row[]): Table {
  return {
    head: ["recording", "program", "step", "calls", "seconds", "share"],
    lines: rows
      .filter(({ atOnce }) => atOnce === 1)
      .flatMap(({ recording, by, steps }) => {
        const all = total(steps, ({ seconds }) => seconds);
        return steps.map(({ name, count, seconds }) => [
          ...[recording, by, name, count === null ? "" : String(count), seconds.toFixed(1), percent(seconds / all, 0)],
        ]);
      }),
  };
}

/** Returns date, commit, machine and settings in one line, and the number of runs: `medians of 1 to 3 runs`. */
export function describe(bench: Omit<Bench, "runs">, rows: readonly Pick<Row, "runs">[]): string {
  const counts = rows.map(({ runs }) => runs);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const runs = `${least === most ? most : `${least} to ${most}`} ${most === 1 ? "run" : "runs"}`;
  const language = bench.language === null ? "language detected" : `language ${bench.language}`;
  return headingOf(bench, `${bench.threads} threads`, ...cpuTerms(bench.cpu), language, `medians of ${runs}`);
}

/** Returns the descriptions of the CPU kernels that programs reported, each once. */
export function kernelsOf(runs: readonly Run[]): string[] {
  return [...new Set(runs.flatMap(({ figures }) => figures.kernels ?? []))];
}
