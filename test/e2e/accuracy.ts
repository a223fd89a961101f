import type { Segment } from "../../harness/contract.ts";
import type { NamedTurn } from "../../harness/rttm.ts";
import { errorRate } from "../../harness/wer.ts";
import { englishWordErrors } from "../support/english-words.ts";

/** Returns the text of all segments. */
export function textOf(segments: readonly Segment[]): string {
  return segments.map((segment) => segment.text).join(" ");
}

/** Returns the word error rate of English segments: 0.05 is 5 %. */
export function wordErrorRate(reference: string, segments: readonly Segment[]): number {
  return errorRate([englishWordErrors(reference, textOf(segments))]);
}

/** A reference turn with the speaker label of most words in it. */
export interface LabelledTurn extends NamedTurn {
  /** Null when no word was recognized in the turn. */
  readonly label: string | null;
}

/** A turn is compared only when its speaker speaks alone for at least this time. */
const minAloneSeconds = 1;

/**
 * Returns the label of most words within each reference turn, counted only while its speaker is alone. Words are spread
 * evenly over their segment, because the API does not return their times.
 */
export function labelledTurns(turns: readonly NamedTurn[], segments: readonly Segment[]): LabelledTurn[] {
  const words = segments.flatMap(({ start, end, speaker, text }) => {
    const count = text.split(/\s+/).length;
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
 * Returns the distinct pairs of speaker and label. There is one pair per speaker when every turn has the label of its
 * speaker and no two speakers share a label.
 */
export function speakerLabels(turns: readonly LabelledTurn[]): string[] {
  return [...new Set(turns.map(({ speaker, label }) => `${speaker} is ${label}`))].sort();
}
