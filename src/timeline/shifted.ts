import type { Span } from "./spans.ts";

/** Returns a copy of a span that is `bySeconds` later. */
export function shifted<S extends Span>(span: S, bySeconds: number): S {
  return { ...span, startSeconds: span.startSeconds + bySeconds, endSeconds: span.endSeconds + bySeconds };
}
