import type { Checkpoints } from "../recordings/index.ts";
import type { Chunk, EngineWord } from "../timeline/index.ts";
import { othersTurn } from "./others-turn.ts";
import { wordsOfChunk } from "./transcribe.ts";

/**
 * Length, in seconds, from which a span ends at the next pause of `longPauseSeconds`. A span of `mostSeconds` ends at
 * its longest pause after `leastSeconds`.
 */
const leastSeconds = 600;
const mostSeconds = 1200;
const longPauseSeconds = 3;
/** Number of chunks read before yielding to the event loop. */
const chunksAtOnce = 10;

/**
 * Yields a track's words in order, in spans of about ten minutes. The words of 18 hours are therefore never in memory
 * at once, and the event loop runs other work in between. Spans end between chunks, in a pause of at least 3 s. Without
 * such a pause, they end in the longest pause of a ten-minute window.
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
