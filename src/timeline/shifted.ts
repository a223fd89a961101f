import type { Span } from "./spans.ts";

/** The same, so many seconds later. */
export function shifted<S extends Span>(span: S, bySeconds: number): S {
  return { ...span, startSeconds: span.startSeconds + bySeconds, endSeconds: span.endSeconds + bySeconds };
}
