import type { Checkpoints } from "../recordings/index.ts";
import type { Chunk, EngineWord } from "../timeline/index.ts";
import { othersTurn } from "./others-turn.ts";
import { wordsOfChunk } from "./transcribe.ts";

/** From this length on, a stretch ends at the next pause in which nothing goes on, and at the longest one in so much more. */
const leastSeconds = 600;
const mostSeconds = 1200;
const longPauseSeconds = 3;
/** Chunks that are read in one go. */
const chunksAtOnce = 10;

/**
 * A track's words, some ten minutes at a time, in order: those of 18 hours are never held at once, and all else has its turn in
 * between. Stretches end between chunks, where nobody speaks for 3 s; where there is always somebody, in the longest of
 * the pauses of ten minutes.
 */
export async function* stretches(
  checkpoints: Checkpoints,
  chunks: readonly Chunk[],
  signal: AbortSignal,
): AsyncGenerator<EngineWord[]> {
  let open: EngineWord[][] = [];
  let longest = { at: 0, seconds: -1 };
  for (const part of chunks.keys()) {
    if (part % chunksAtOnce === 0) await othersTurn(signal);
    const words = wordsOfChunk(checkpoints, part);
    const first = words[0];
    if (first === undefined) continue;
    const last = open.at(-1)?.at(-1);
    const reached = (last?.endSeconds ?? 0) - (open[0]?.[0]?.startSeconds ?? 0);
    if (last !== undefined && reached >= leastSeconds) {
      const seconds = first.startSeconds - last.endSeconds;
      if (seconds > longest.seconds) longest = { at: open.length, seconds };
      if (seconds >= longPauseSeconds || reached >= mostSeconds) {
        yield open.slice(0, longest.at).flat();
        open = open.slice(longest.at);
        longest = { at: 0, seconds: -1 };
      }
    }
    open.push(words);
  }
  if (open.length > 0) yield open.flat();
}
