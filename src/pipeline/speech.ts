import type { Chunk, PcmFile } from "../timeline/index.ts";

/** A chunk of a track. */
export interface Speech {
  readonly pcm: PcmFile;
  readonly chunk: Chunk;
}
