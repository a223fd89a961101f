import { errorsIn, type Normalise, type Rate, sum } from "../../corpus/index.ts";
import { MIB, median, percent, quantile, total } from "../../shared/figures.ts";
import type { Table } from "../../shared/table.ts";
import { growthOf } from "./judge.ts";
import type { LiveRun } from "./measure.ts";
import { lossOf, type Waiting } from "./waiting.ts";

/** All texts are English. */
export const LANGUAGE = "en";
/** Growth of the delay over a run from which sessions fall behind. */
const BEHIND_SECONDS = 1;

/** Goals for our program with two sessions: seconds, points of the WER, and a share of the time of a recording. */
export const GOAL = { sessions: 2, shown: 1, final: 2, late: 3.3, points: 1.5, loss: 0.1 };

/** Returns the figures of the sessions of a run. */
export function summaryOf({ of, cpuSeconds, wallSeconds, sessions, ...run }: LiveRun, normalise: Normalise) {
  const shown = of.flatMap((session) => session.shown.map(({ seconds }) => seconds));
  const final = of.flatMap((session) => session.final.map(({ seconds }) => seconds));
  const growth = Math.max(...of.map((session) => growthOf(session.final)));
  const errors = (textOf: (text: LiveRun["of"][number]["texts"][number]) => string): Rate =>
    sum(
      of.flatMap(({ texts }) =>
        texts.flatMap((text) => {
          if (text.said === null) return [];
          return [errorsIn(normalise, LANGUAGE, text.said, textOf(text))];
        }),
      ),
    );
  return {
    ...{ program: run.program, sessions, seconds: run.seconds, peakBytes: run.peakBytes },
    shown: { median: median(shown), p95: quantile(shown, 0.95) },
    final: { median: median(final), p95: quantile(final, 0.95) },
    growth,
    keepsUp: growth <= BEHIND_SECONDS && of.every(({ endedAfter }) => endedAfter !== null),
    errors: errors(({ final: text }) => text),
    batchErrors: errors(({ batch }) => batch),
    withdrawn: total(of, (session) => session.withdrawn) / total(of, ({ words }) => words),
    changedFinal: total(of, (session) => session.changedFinal),
    inSilence: total(of, (session) => session.inSilence),
    /** Share of one processor core that each session takes. */
    cpuShare: cpuSeconds / wallSeconds / sessions,
  };
}
export type Summary = ReturnType<typeof summaryOf>;

/** Returns all texts of runs that are compared with a reference. */
export function textsOf(runs: readonly LiveRun[]): string[] {
  const all = runs.flatMap(({ of }) => of.flatMap(({ texts }) => texts));
  return all.flatMap(({ final, batch, said }) => (said === null ? [] : [final, batch, said]));
}

const rateOf = ({ errors, length }: Rate) => errors / length;

export function programsTable(summaries: readonly Summary[]): Table {
  return {
    head: [
      ...["program", "sessions", "seconds", "shown after, median s", "p95 s", "final after, median s", "p95 s"],
      ...["delay grows by, s", "keeps up", "WER", "WER of a recording", "withdrawn words", "words in silence"],
      ...["CPU for each session", "peak MiB"],
    ],
    lines: summaries.map((one) => [
      ...[one.program, String(one.sessions), one.seconds.toFixed(0)],
      ...[one.shown.median, one.shown.p95, one.final.median, one.final.p95, one.growth].map((value) =>
        value.toFixed(2),
      ),
      ...[one.keepsUp ? "yes" : "no", percent(rateOf(one.errors)), percent(rateOf(one.batchErrors))],
      ...[percent(one.withdrawn, 0), String(one.inSilence), percent(one.cpuShare, 0)],
      String(Math.round(one.peakBytes / MIB)),
    ]),
  };
}

export function waitingTable(all: readonly Waiting[]): Table {
  const medianOf = (delays: readonly number[]) => (delays.length === 0 ? "" : median(delays).toFixed(2));
  return {
    head: [
      ...["sessions", "recording, s", "relative to alone", "loss for each session"],
      ...["shown after, median s", "final after, median s", "p95 s"],
    ],
    lines: all.map((one) => [
      ...[String(one.sessions), median(one.seconds).toFixed(1), (1 + lossOf(all, one)).toFixed(2)],
      ...[one.sessions === 0 ? "" : percent(lossOf(all, one) / one.sessions, 0), medianOf(one.shown)],
      ...[medianOf(one.final), one.final.length === 0 ? "" : quantile(one.final, 0.95).toFixed(2)],
    ]),
  };
}

/** Returns a sentence about the goals that our program reaches with two sessions; null when these were not measured. */
export function goalsOf(ours: Summary | undefined, waiting: readonly Waiting[]): string | null {
  if (ours === undefined) return null;
  const points = 100 * (rateOf(ours.errors) - rateOf(ours.batchErrors));
  const beside = waiting.filter(({ sessions }) => sessions > 0);
  const losses = beside.map((one) => lossOf(waiting, one) / one.sessions);
  const goals = [
    [`shown after ${GOAL.shown} s`, ours.shown.median <= GOAL.shown],
    [`final after ${GOAL.final} s`, ours.final.median <= GOAL.final],
    [`95 % final after ${GOAL.late} s`, ours.final.p95 <= GOAL.late],
    [`WER at most ${GOAL.points} points above that of a recording`, points <= GOAL.points],
    ["no falling behind", ours.keepsUp],
    ...(losses.length === 0
      ? []
      : [
          [
            `a waiting recording loses at most ${percent(GOAL.loss, 0)} for each session`,
            Math.max(...losses) <= GOAL.loss,
          ],
        ]),
  ] as const;
  const text = goals.map(([goal, isReached]) => `${goal}: ${isReached ? "yes" : "no"}`).join("; ");
  return `Goals for ${GOAL.sessions} sessions: ${text}.`;
}

/** Returns our figures for the number of sessions that the goals are for. */
export function goalRun(summaries: readonly Summary[], ourName: string): Summary | undefined {
  return summaries.find(({ program, sessions }) => program === ourName && sessions === GOAL.sessions);
}
