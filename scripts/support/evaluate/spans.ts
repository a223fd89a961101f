/** A stretch of time. */
export interface Span {
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** The stretches of a span in which none of the others is. */
export function uncovered({ startSeconds, endSeconds }: Span, others: readonly Span[]): Span[] {
  const free: Span[] = [];
  let from = startSeconds;
  for (const other of others.toSorted((a, b) => a.startSeconds - b.startSeconds)) {
    if (other.startSeconds >= endSeconds) break;
    if (other.startSeconds > from) free.push({ startSeconds: from, endSeconds: other.startSeconds });
    from = Math.max(from, other.endSeconds);
  }
  if (from < endSeconds) free.push({ startSeconds: from, endSeconds });
  return free;
}

/** Seconds of the longest stretch of a span that lies outside all others. */
export function longestOutside(others: readonly Span[], span: Span): number {
  return Math.max(0, ...uncovered(span, others).map(secondsOf));
}

export function secondsOf({ startSeconds, endSeconds }: Span): number {
  return endSeconds - startSeconds;
}
