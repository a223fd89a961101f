import { addErrors, type DiarizationErrors, diarizationErrors, errorRates } from "../../../test/support/der.ts";
import type { NamedTurn } from "../../../test/support/rttm.ts";
import type { Group, Reference } from "./corpus.ts";
import type { Scoring } from "./scorer.ts";

/** Who was found to speak when in a recording. */
export interface FoundSpeakers {
  readonly reference: Reference;
  readonly turns: readonly NamedTurn[];
}

export interface SpeakerResult {
  readonly path: string;
  readonly group: Group;
  readonly speakers: number;
  readonly found: number;
  /** Null where nobody says who spoke when. */
  readonly errors: DiarizationErrors | null;
  /** Against the times of the words alone. */
  readonly wordErrors: DiarizationErrors | null;
}

/** Diarization errors by pyannote.metrics, without a collar and with overlap scored. */
export async function speakerResults(scorer: Scoring, all: readonly FoundSpeakers[]): Promise<SpeakerResult[]> {
  const talks = all.flatMap(({ reference, turns: found }) =>
    [reference.turns, reference.wordTurns].flatMap((turns) => (turns === null ? [] : [{ reference: turns, found }])),
  );
  const scored = (await scorer.diarizationErrors(talks)).map(
    (errors, index) => [talks[index]?.reference, errors] as const,
  );
  return all.map(({ reference, turns }) => {
    const errorsAgainst = (turns: readonly NamedTurn[] | null) => scored.find(([one]) => one === turns)?.[1] ?? null;
    return {
      path: reference.path,
      group: reference.group,
      speakers: reference.speakers,
      found: new Set(turns.map(({ speaker }) => speaker)).size,
      errors: errorsAgainst(reference.turns),
      wordErrors: errorsAgainst(reference.wordTurns),
    };
  });
}

/** Seconds that rounding may make of a recording's thousands of intervals. */
const toleranceSeconds = 1e-6;

/** Recordings whose errors test/support/der.ts counts otherwise than pyannote.metrics does. */
export function countedOtherwise(all: readonly FoundSpeakers[], results: readonly SpeakerResult[]): string[] {
  return all.flatMap(({ reference, turns }, index) => {
    const theirs = results[index]?.errors;
    if (reference.turns === null || !theirs) return [];
    const ours = Object.entries(diarizationErrors(reference.turns, turns));
    const isEqual = ours.every(
      ([name, value]) => Math.abs(value - theirs[name as keyof DiarizationErrors]) < toleranceSeconds,
    );
    return isEqual ? [] : [reference.path];
  });
}

/** Several recordings together: errors in parts of the reference's speech, and how many numbers of speakers are right. */
export function summary(results: readonly SpeakerResult[], which: "errors" | "wordErrors" = "errors") {
  const errors = results.flatMap((result) => result[which] ?? []);
  return {
    ...errorRates(addErrors(errors)),
    countsRight: results.filter(({ speakers, found }) => speakers === found).length,
    /** Speakers too many or too few, over all recordings. */
    countError: results.reduce((sum, { speakers, found }) => sum + Math.abs(speakers - found), 0),
    files: results.length,
  };
}
