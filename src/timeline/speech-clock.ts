import { type Span, secondsOf } from "./spans.ts";

/** A clock that counts only seconds of speech; it stands still in between. */
export class SpeechClock {
  /** Disjoint speech spans in order; `atSeconds` is the clock's value at the start of each. */
  readonly #speech: (Span & { atSeconds: number })[] = [];
  /** Total seconds of speech. */
  readonly totalSeconds: number;

  /**
   * @param speech in order of start times
   * @param within speech outside this span is ignored; when no speech lies in it, the whole span counts as speech
   */
  constructor(speech: readonly Span[], within: Span) {
    let total = 0;
    const inside = speech.filter((one) => one.startSeconds < within.endSeconds && one.endSeconds > within.startSeconds);
    for (const one of inside.length === 0 ? [within] : inside) {
      const last = this.#speech.at(-1);
      const startSeconds = Math.max(one.startSeconds, last?.endSeconds ?? within.startSeconds);
      const endSeconds = Math.min(one.endSeconds, within.endSeconds);
      if (endSeconds <= startSeconds) continue;
      if (last !== undefined && startSeconds <= last.endSeconds) last.endSeconds = endSeconds;
      else this.#speech.push({ startSeconds, endSeconds, atSeconds: total });
      total += endSeconds - startSeconds;
    }
    this.totalSeconds = total;
  }

  /** Returns the clock's value at a moment of the recording. */
  at(seconds: number): number {
    const current = this.#speech[countWhile(this.#speech, ({ startSeconds }) => startSeconds <= seconds) - 1];
    if (current === undefined) return 0;
    return current.atSeconds + Math.min(seconds, current.endSeconds) - current.startSeconds;
  }

  /** Returns the first moment at which the clock has the value `seconds`. */
  recordingTime(seconds: number): number {
    const after = countWhile(this.#speech, ({ atSeconds }) => atSeconds < seconds);
    const current = this.#speech[Math.max(0, after - 1)];
    if (current === undefined) return 0;
    return Math.min(current.endSeconds, current.startSeconds + seconds - current.atSeconds);
  }

  /** Maps a non-empty span of clock time to the recording: the longer part, if the span lies in two speech spans. */
  recordingSpan(span: Span): Span {
    let best = { startSeconds: 0, endSeconds: 0 };
    for (const { startSeconds, endSeconds, atSeconds } of this.#speech) {
      const shift = startSeconds - atSeconds;
      const from = Math.max(startSeconds, span.startSeconds + shift);
      const to = Math.min(endSeconds, span.endSeconds + shift);
      if (to - from > secondsOf(best)) best = { startSeconds: from, endSeconds: to };
    }
    return best;
  }
}

/** Returns the length of the prefix that satisfies a monotonic predicate, by binary search. */
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
