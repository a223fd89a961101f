import type { Span } from "./protocol.ts";

/** How long a span lasts. */
export function secondsOf({ startSeconds, endSeconds }: Span): number {
  return endSeconds - startSeconds;
}
