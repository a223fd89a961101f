import type { PcmFile, Span } from "../engine/index.ts";

/** A stretch of a track in which somebody speaks. */
export interface Speech {
  readonly pcm: PcmFile;
  readonly span: Span;
}
