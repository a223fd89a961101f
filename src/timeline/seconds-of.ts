import type { Span } from "./spans.ts";

/** Returns the duration of a span. */
export function secondsOf({ startSeconds, endSeconds }: Span): number {
  return endSeconds - startSeconds;
}
