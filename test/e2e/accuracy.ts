import type { Segment } from "../support/contract.ts";
import type { NamedTurn } from "../support/rttm.ts";

/** What readers write out and whisper writes short. */
const spelledOut: Record<string, string> = { mr: "mister", mrs: "missus", dr: "doctor", ok: "okay" };

/** A text's words in lower case, without punctuation, apostrophes of either kind left out. */
export function wordsOf(text: string): string[] {
  const words =
    text
      .toLowerCase()
      .replaceAll(/['’]/g, "")
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => spelledOut[word] ?? word);
}

/** Word error rate: substituted, left out and added words, as a part of the reference's words. */
export function wordErrorRate(reference: readonly string[], found: readonly string[]): number {
  // Levenshtein's distance, row by row.
  let row = Array.from({ length: found.length + 1 }, (_, column) => column);
  for (const [index, word] of reference.entries()) {
    const next = [index + 1];
    for (const [column, other] of found.entries()) {
      const replaced = (row[column] ?? 0) + (word === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return (row.at(-1) ?? 0) / reference.length;
}

/** A reference turn and the label that most of the words in it were given. */
export interface HeardTurn extends NamedTurn {
  /** Null where no word was heard. */
  readonly label: string | null;
}

/** Turns in which one person speaks alone for a second or more have a speaker that can be told. */
const minAloneSeconds = 1;

/**
 * The label of most words within each reference turn, counting only the time in which its speaker is alone. Words are
 * spread evenly over their segment, which is all that the API says of them.
 */
export function heardTurns(turns: readonly NamedTurn[], segments: readonly Segment[]): HeardTurn[] {
  const words = segments.flatMap(({ start, end, speaker, text }) => {
    const count = wordsOf(text).length;
    return Array.from({ length: count }, (_, index) => ({
      at: start + ((index + 0.5) / count) * (end - start),
      speaker,
    }));
  });
  return turns.flatMap((turn) => {
    const others = turns.filter((other) => other.speaker !== turn.speaker);
    const within = ({ startSeconds, endSeconds }: NamedTurn, at: number) => at >= startSeconds && at < endSeconds;
    const isAlone = (at: number) => within(turn, at) && !others.some((other) => within(other, at));
    const overlap = others.reduce((sum, other) => sum + Math.max(0, common(turn, other)), 0);
    if (turn.endSeconds - turn.startSeconds - overlap < minAloneSeconds) return [];
    const counts = new Map<string, number>();
    for (const { at, speaker } of words) if (isAlone(at)) counts.set(speaker, (counts.get(speaker) ?? 0) + 1);
    const [most] = [...counts].sort(([, a], [, b]) => b - a);
    return [{ ...turn, label: most?.[0] ?? null }];
  });
}

function common(turn: NamedTurn, other: NamedTurn): number {
  return Math.min(turn.endSeconds, other.endSeconds) - Math.max(turn.startSeconds, other.startSeconds);
}

/**
 * Whether every turn has its own speaker's label and each speaker one label: the pairs of both, which are as many as there
 * are speakers when it is so.
 */
export function speakerLabels(turns: readonly HeardTurn[]): string[] {
  return [...new Set(turns.map(({ speaker, label }) => `${speaker} is ${label}`))].sort();
}
