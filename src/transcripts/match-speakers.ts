import type { CorrectedSegment } from "./changes.ts";

/**
 * Share of a speaker's speech in which another transcript of the same audio must have one certain speaker, for both to
 * be the same person. Chosen, not measured: no two speakers can have more than half of the same speech.
 */
const MIN_SHARE = 0.5;

type Spoken = Pick<CorrectedSegment, "startMilliseconds" | "endMilliseconds" | "speaker">;

/**
 * Returns the numbers that the speakers of a new transcript get: that of the speaker of the former one who speaks at the
 * same times, so that names stay, else a new one.
 * @param former in the order of their starts, as `found`
 * @param next number of the next new speaker
 */
export function matchSpeakers(former: readonly Spoken[], found: readonly Spoken[], next: number): Map<number, number> {
  const spoken = new Map<number, number>();
  const common = new Map<string, { readonly speaker: number; readonly as: number; milliseconds: number }>();
  let first = 0;
  for (const { startMilliseconds: start, endMilliseconds: end, speaker } of found) {
    spoken.set(speaker, (spoken.get(speaker) ?? 0) + end - start);
    while ((former[first]?.endMilliseconds ?? Number.POSITIVE_INFINITY) <= start) first += 1;
    for (let place = first; ; place++) {
      const segment = former[place];
      if (segment === undefined || segment.startMilliseconds >= end) break;
      const milliseconds = Math.min(end, segment.endMilliseconds) - Math.max(start, segment.startMilliseconds);
      if (milliseconds <= 0) continue;
      const key = `${speaker} ${segment.speaker}`;
      const pair = common.get(key) ?? { speaker, as: segment.speaker, milliseconds: 0 };
      pair.milliseconds += milliseconds;
      common.set(key, pair);
    }
  }
  const numbers = new Map<number, number>();
  const taken = new Set<number>();
  for (const { speaker, as, milliseconds } of [...common.values()].sort((a, b) => b.milliseconds - a.milliseconds)) {
    if (numbers.has(speaker) || taken.has(as) || milliseconds < MIN_SHARE * (spoken.get(speaker) ?? 0)) continue;
    numbers.set(speaker, as);
    taken.add(as);
  }
  let free = next;
  for (const speaker of spoken.keys()) if (!numbers.has(speaker)) numbers.set(speaker, free++);
  return numbers;
}
