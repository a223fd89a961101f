import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addErrors, type DiarizationErrors, diarizationErrors, errorRates } from "../../harness/der.ts";
import { decode, diarize, openModels } from "../../harness/diarized-recording.ts";
import type { NamedTurn } from "../../harness/rttm.ts";
import { SAMPLE_RATE } from "../../src/timeline/index.ts";
import type { Group, Reference } from "./corpus.ts";
import type { Scoring } from "./scorer.ts";

/** The turns that were found in a recording. */
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

/** Computes diarization errors with pyannote.metrics, without a collar and with overlap scored. */
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

/** Maximum rounding error over a recording's thousands of intervals. */
const toleranceSeconds = 1e-6;

/** Returns the recordings for which harness/der.ts and pyannote.metrics disagree. */
export function scorerMismatches(all: readonly FoundSpeakers[], results: readonly SpeakerResult[]): string[] {
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

/** Combines several recordings: error rates relative to the reference's speech, and correct numbers of speakers. */
export function summarize(results: readonly SpeakerResult[], which: "errors" | "wordErrors" = "errors") {
  const errors = results.flatMap((result) => result[which] ?? []);
  return {
    ...errorRates(addErrors(errors)),
    countsRight: results.filter(({ speakers, found }) => speakers === found).length,
    /** Sum of surplus and missing speakers over all recordings. */
    countError: results.reduce((sum, { speakers, found }) => sum + Math.abs(speakers - found), 0),
    files: results.length,
  };
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
  const directory = await mkdtemp(join(tmpdir(), "evaluate-"));
  const all: Diarized[] = [];
  try {
    for (const reference of references) {
      const pcm = await decode(reference.file, join(directory, "pcm"));
      const { turns, milliseconds } = await diarize(
        models,
        pcm,
        isCountGiven ? { min: reference.speakers, max: reference.speakers } : undefined,
      );
      const named = turns.map((turn) => ({ ...turn, speaker: String(turn.speaker) }));
      all.push({ reference, turns: named, seconds: pcm.sampleCount / SAMPLE_RATE, milliseconds });
    }
  } finally {
    await rm(directory, { recursive: true });
    await models.dispose();
  }
  return all;
}
