import type { Span, Turn } from "../../src/timeline/index.ts";

/** Returns spans by their starts and ends, in seconds. */
export function spans(...times: readonly (readonly [startSeconds: number, endSeconds: number])[]): Span[] {
  return times.map(([startSeconds, endSeconds]) => ({ startSeconds, endSeconds }));
}

/** Returns the spans of anything that has one, rounded to milliseconds or another number of digits. */
export function rounded(all: readonly Span[], digits = 3): Span[] {
  const round = (seconds: number) => Number(seconds.toFixed(digits)) + 0;
  return all.map(({ startSeconds, endSeconds }) => ({
    startSeconds: round(startSeconds),
    endSeconds: round(endSeconds),
  }));
}

export function turn(startSeconds: number, endSeconds: number, speaker = 0): Turn {
  return { startSeconds, endSeconds, speaker };
}
