import type { Span } from "./spans.ts";

/** How long a span lasts. */
export function secondsOf({ startSeconds, endSeconds }: Span): number {
  return endSeconds - startSeconds;
}
