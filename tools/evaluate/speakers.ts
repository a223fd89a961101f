import { join } from "node:path";
import { addErrors, type DiarizationErrors, diarizationErrors, errorRates } from "../../harness/der.ts";
import { decode, diarize, openModels } from "../../harness/diarized-recording.ts";
import type { NamedTurn } from "../../harness/rttm.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { SAMPLE_RATE, type Turn } from "../../src/timeline/index.ts";
import type { Group, Reference, Scoring } from "../corpus/index.ts";
import { total } from "../shared/figures.ts";

export interface FoundSpeakers {
  readonly reference: Reference;
  readonly turns: readonly NamedTurn[];
}

export interface SpeakerResult {
  readonly path: string;
  readonly group: Group;
  readonly speakers: number;
  readonly found: number;
  /** Null when the reference has no turns. */
  readonly errors: DiarizationErrors | null;
  /** Errors against the times of the words alone. */
  readonly wordErrors: DiarizationErrors | null;
}

/** Scores the turns that were found with functions of reference turns. */
export function speakerResult(
  { reference: { path, group, speakers, turns, wordTurns }, turns: found }: FoundSpeakers,
  errorsAgainst: (reference: readonly NamedTurn[], found: readonly NamedTurn[]) => DiarizationErrors | null,
): SpeakerResult {
  const [errors = null, wordErrors = null] = [turns, wordTurns].map((reference) =>
    reference === null ? null : errorsAgainst(reference, found),
  );
  return { path, group, speakers, found: new Set(found.map(({ speaker }) => speaker)).size, errors, wordErrors };
}

/** Computes diarization errors with pyannote.metrics, without a collar and with overlap scored. */
export async function speakerResults(scorer: Scoring, all: readonly FoundSpeakers[]): Promise<SpeakerResult[]> {
  const talks = all.flatMap(({ reference, turns: found }) =>
    [reference.turns, reference.wordTurns].flatMap((turns) => (turns === null ? [] : [{ reference: turns, found }])),
  );
  const scored = new Map((await scorer.diarizationErrors(talks)).map((each, index) => [talks[index]?.reference, each]));
  return all.map((one) => speakerResult(one, (reference) => scored.get(reference) ?? null));
}

/** Maximum rounding error over a recording's thousands of intervals. */
const TOLERANCE_SECONDS = 1e-6;

/** Returns the recordings for which harness/der.ts and pyannote.metrics disagree. */
export function scorerMismatches(all: readonly FoundSpeakers[], results: readonly SpeakerResult[]): string[] {
  return all.flatMap(({ reference: { turns: real, path }, turns }, index) => {
    const theirs = results[index]?.errors;
    if (real === null || !theirs) return [];
    const ours = Object.entries(diarizationErrors(real, turns)) as [keyof DiarizationErrors, number][];
    return ours.every(([name, value]) => Math.abs(value - theirs[name]) < TOLERANCE_SECONDS) ? [] : [path];
  });
}

/** Combines several recordings: error rates relative to the reference's speech, and correct numbers of speakers. */
export function summarize(results: readonly SpeakerResult[], which: "errors" | "wordErrors" = "errors") {
  return {
    ...errorRates(addErrors(results.flatMap((result) => result[which] ?? []))),
    countsRight: results.filter(({ speakers, found }) => speakers === found).length,
    /** Sum of surplus and missing speakers over all recordings. */
    countError: total(results, ({ speakers, found }) => Math.abs(speakers - found)),
    files: results.length,
  };
}

/** Returns turns with names of speakers, as references have them. */
export function namedTurns(turns: readonly Turn[]): NamedTurn[] {
  return turns.map((turn) => ({ ...turn, speaker: String(turn.speaker) }));
}

/** The turns that were found, and their cost. */
export interface Diarized extends FoundSpeakers {
  /** Length of the recording. */
  readonly seconds: number;
  readonly milliseconds: { readonly detect: number; readonly embed: number; readonly cluster: number };
}

/**
 * Runs the diarization without the words: all its steps, in this process, on one channel.
 * @param isCountGiven whether the diarization gets the number of speakers as a hint
 */
export async function diarizationTurns(references: readonly Reference[], isCountGiven = false): Promise<Diarized[]> {
  if (references.length === 0) return [];
  const models = await openModels();
  using folder = temporaryDirectory();
  const all: Diarized[] = [];
  try {
    for (const reference of references) {
      const { speakers, file } = reference;
      const pcm = await decode(file, join(folder.path, "pcm"));
      const bounds = isCountGiven ? { min: speakers, max: speakers } : undefined;
      const { turns, milliseconds } = await diarize(models, pcm, bounds);
      const named = namedTurns(turns);
      all.push({ reference, turns: named, seconds: pcm.sampleCount / SAMPLE_RATE, milliseconds });
    }
  } finally {
    await models.dispose();
  }
  return all;
}
