import { secondsOf } from "./seconds-of.ts";
import type { Span } from "./spans.ts";

/** A clock that stands still while nobody speaks: it shows the seconds of speech so far. */
export class SpeechClock {
  /** Speech in order, apart, each stretch with what the clock shows at its start. */
  private readonly speech: (Span & { atSeconds: number })[] = [];
  /** All the speech there is. */
  readonly totalSeconds: number;

  /**
   * @param speech in order of its starts
   * @param within what lies outside counts for nothing; where no speech lies in it, all of it counts
   */
  constructor(speech: readonly Span[], within: Span) {
    let total = 0;
    const inside = speech.filter((one) => one.startSeconds < within.endSeconds && one.endSeconds > within.startSeconds);
    for (const one of inside.length === 0 ? [within] : inside) {
      const last = this.speech.at(-1);
      const startSeconds = Math.max(one.startSeconds, last?.endSeconds ?? within.startSeconds);
      const endSeconds = Math.min(one.endSeconds, within.endSeconds);
      if (endSeconds <= startSeconds) continue;
      if (last !== undefined && startSeconds <= last.endSeconds) last.endSeconds = endSeconds;
      else this.speech.push({ startSeconds, endSeconds, atSeconds: total });
      total += endSeconds - startSeconds;
    }
    this.totalSeconds = total;
  }

  /** What the clock shows at a moment. */
  at(seconds: number): number {
    const stretch = this.speech[countWhile(this.speech, ({ startSeconds }) => startSeconds <= seconds) - 1];
    if (stretch === undefined) return 0;
    return stretch.atSeconds + Math.min(seconds, stretch.endSeconds) - stretch.startSeconds;
  }

  /** When the clock first shows so many seconds. */
  moment(seconds: number): number {
    const after = countWhile(this.speech, ({ atSeconds }) => atSeconds < seconds);
    const stretch = this.speech[Math.max(0, after - 1)];
    if (stretch === undefined) return 0;
    return Math.min(stretch.endSeconds, stretch.startSeconds + seconds - stretch.atSeconds);
  }

  /** When the clock shows a span of more than no time: where it lies in two stretches of speech, the greater part. */
  when(span: Span): Span {
    let best = { startSeconds: 0, endSeconds: 0 };
    for (const { startSeconds, endSeconds, atSeconds } of this.speech) {
      const shift = startSeconds - atSeconds;
      const from = Math.max(startSeconds, span.startSeconds + shift);
      const to = Math.min(endSeconds, span.endSeconds + shift);
      if (to - from > secondsOf(best)) best = { startSeconds: from, endSeconds: to };
    }
    return best;
  }
}

/** How many there are before the first of which it is not true, and then of none; by halves, as a recording has many. */
function countWhile<T>(all: readonly T[], isTrue: (one: T) => boolean): number {
  let from = 0;
  let to = all.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isTrue(all[middle] as T)) from = middle + 1;
    else to = middle;
  }
  return from;
}
