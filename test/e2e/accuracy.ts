import type { Segment } from "../support/contract.ts";
import type { NamedTurn } from "../support/rttm.ts";
import { englishWordErrors, errorRate } from "../support/wer.ts";

/** A recording's words, as its segments have them. */
export function textOf(segments: readonly Segment[]): string {
  return segments.map((segment) => segment.text).join(" ");
}

/** Word error rate of English segments: 0.05 is 5 %. */
export function wordErrorRate(reference: string, segments: readonly Segment[]): number {
  return errorRate([englishWordErrors(reference, textOf(segments))]);
}

/** A reference turn and the label that most of the words in it were given. */
export interface LabelledTurn extends NamedTurn {
  /** Null where no word was heard. */
  readonly label: string | null;
}

/** Turns in which one person speaks alone for a second or more have a speaker that can be told. */
const minAloneSeconds = 1;

/**
 * The label of most words within each reference turn, counting only the time in which its speaker is alone. Words are
 * spread evenly over their segment, which is all that the API says of them.
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
 * Whether every turn has its own speaker's label and each speaker one label: the pairs of both, which are as many as there
 * are speakers when it is so.
 */
export function speakerLabels(turns: readonly LabelledTurn[]): string[] {
  return [...new Set(turns.map(({ speaker, label }) => `${speaker} is ${label}`))].sort();
}
