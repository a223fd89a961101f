import type { Chunk, WorkArea } from "../timeline/index.ts";

/** A chunk of a track. */
export interface Speech {
  readonly area: WorkArea;
  readonly chunk: Chunk;
}
