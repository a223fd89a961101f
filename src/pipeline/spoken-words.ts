import type { Checkpoints } from "../recordings/index.ts";
import { type Chunk, type EngineWord, OverlapFinder, type Turn } from "../timeline/index.ts";
import { assignSpeakers, type SpokenWord } from "./assign-speakers.ts";
import { yieldToEventLoop } from "./concurrency.ts";
import { fitWords } from "./fit-to-turns.ts";
import { moveStragglers } from "./move-stragglers.ts";
import type { TrackContext } from "./tracks.ts";
import { readWords } from "./transcribe.ts";

/** Distance in seconds from all words of a span beyond which turns are ignored, unless there are no nearer ones. */
const NEAR_SECONDS = 60;
/** A span longer than LEAST ends at the next pause of LONG_PAUSE; one of MOST ends at its longest pause after LEAST. */
const LEAST_SECONDS = 600;
const MOST_SECONDS = 1200;
const LONG_PAUSE_SECONDS = 3;
/** Number of chunks read before yielding to the event loop. */
const CHUNKS_PER_YIELD = 2;

/** Returns the words of a chunk, which are in its checkpoint. */
type ReadWords = (checkpoints: Checkpoints, part: number) => { readonly words: readonly EngineWord[] };

/**
 * Yields a track's words, moved into the turns and with speakers, one span of words at a time, in order.
 * @param speechTurns turns that determine when somebody speaks, in order of their starts
 * @param speakerTurns turns that determine the speaker
 * @param read returns the words of a chunk
 */
export async function* spokenWords(
  context: TrackContext,
  chunks: readonly Chunk[],
  speechTurns: readonly Turn[],
  speakerTurns: readonly Turn[],
  read: ReadWords = readWords,
): AsyncGenerator<SpokenWord[]> {
  const nearSpeech = turnsNear(speechTurns);
  const nearSpeakers = turnsNear(speakerTurns);
  for await (const words of wordSpans(context.checkpoints, chunks, context.signal, read)) {
    const fitted = fitWords(words, nearSpeech(words));
    await yieldToEventLoop(context.signal);
    const near = nearSpeakers(words);
    const spoken = assignSpeakers(moveStragglers(fitted, near), near);
    await yieldToEventLoop(context.signal);
    yield spoken;
  }
}

/** Returns a function that finds the turns near a span of words, or the nearest one, for one span after the other. */
function turnsNear(turns: readonly Turn[]): (words: readonly EngineWord[]) => readonly Turn[] {
  const overlaps = new OverlapFinder(turns);
  return (words) => {
    const startSeconds = words[0]?.startSeconds ?? 0;
    const endSeconds = words.at(-1)?.endSeconds ?? 0;
    const near = overlaps.overlapping({
      startSeconds: startSeconds - NEAR_SECONDS,
      endSeconds: endSeconds + NEAR_SECONDS,
    });
    if (near.length > 0) return near;
    const distance = (turn: Turn) => Math.max(startSeconds - turn.endSeconds, turn.startSeconds - endSeconds);
    const [first, ...others] = turns;
    if (first === undefined) return [];
    return [others.reduce((nearest, turn) => (distance(turn) < distance(nearest) ? turn : nearest), first)];
  };
}

/**
 * Yields a track's words in order, in spans of about ten minutes, so that the words of 18 hours are never in memory at
 * once. Spans end between chunks, in a pause of at least 3 s or in the longest pause of a ten-minute window.
 */
export async function* wordSpans(
  checkpoints: Checkpoints,
  chunks: readonly Chunk[],
  signal: AbortSignal,
  read: ReadWords = readWords,
): AsyncGenerator<EngineWord[]> {
  let open: (readonly EngineWord[])[] = [];
  let longest = { at: 0, seconds: -1 };
  for (const part of chunks.keys()) {
    if (part % CHUNKS_PER_YIELD === 0) await yieldToEventLoop(signal);
    const { words } = read(checkpoints, part);
    const first = words[0];
    if (first === undefined) continue;
    const last = open.at(-1)?.at(-1);
    const length = (last?.endSeconds ?? 0) - (open[0]?.[0]?.startSeconds ?? 0);
    if (last !== undefined && length >= LEAST_SECONDS) {
      const seconds = first.startSeconds - last.endSeconds;
      if (seconds > longest.seconds) longest = { at: open.length, seconds };
      if (seconds >= LONG_PAUSE_SECONDS || length >= MOST_SECONDS) {
        yield open.slice(0, longest.at).flat();
        open = open.slice(longest.at);
        longest = { at: 0, seconds: -1 };
      }
    }
    open.push(words);
  }
  if (open.length > 0) yield open.flat();
}
