import type { NamedTurn } from "../../harness/rttm.ts";
import { type Span, sharedSeconds } from "../../src/timeline/index.ts";
import type { Reference } from "../corpus/index.ts";
import type { Hypothesis } from "./server.ts";

export type UncertainResult = NonNullable<ReturnType<typeof uncertainResult>>;

/** Share of a segment's words, spoken by others than its speaker, from which the speaker counts as wrong. */
const WRONG_SHARE = 1 / 3;

/**
 * Compares the segments whose speaker is marked as uncertain with those whose speaker is wrong for many of their words.
 * A speaker stands for the person who speaks longest in that speaker's segments.
 * @returns null without reference turns, or if only one speaker was found, whom nobody can mistake
 */
export function uncertainResult({ path, group, turns, wordTurns }: Reference, { segments }: Hypothesis) {
  const real = wordTurns ?? turns;
  const speakers = Map.groupBy(segments, ({ speaker }) => speaker);
  if (real === null || speakers.size < 2) return null;
  const people = new Map([...speakers].map(([speaker, own]) => [speaker, longest(spokenIn(own, real))]));
  const judged = segments.flatMap(({ speaker, isSpeakerUncertain = false, words }) => {
    const said = words.flatMap((word) => longest(spokenIn([word], real)) ?? []);
    if (said.length === 0) return [];
    const others = said.filter((person) => person !== people.get(speaker));
    return [{ isMarked: isSpeakerUncertain, isWrong: others.length >= WRONG_SHARE * said.length }];
  });
  const count = (isCounted: (segment: (typeof judged)[number]) => boolean) => judged.filter(isCounted).length;
  return {
    ...{ path, group, segments: judged.length },
    marked: count(({ isMarked }) => isMarked),
    wrong: count(({ isWrong }) => isWrong),
    both: count(({ isMarked, isWrong }) => isMarked && isWrong),
  };
}

/** Returns the seconds of speech of each person within spans. */
function spokenIn(spans: readonly Span[], turns: readonly NamedTurn[]): Map<string, number> {
  const seconds = new Map<string, number>();
  for (const span of spans) {
    for (const turn of turns) {
      const common = sharedSeconds(span, turn);
      if (common > 0) seconds.set(turn.speaker, (seconds.get(turn.speaker) ?? 0) + common);
    }
  }
  return seconds;
}

function longest(spoken: ReadonlyMap<string, number>): string | null {
  return [...spoken].reduce((most, each) => (each[1] > most[1] ? each : most), ["", 0] as const)[0] || null;
}
