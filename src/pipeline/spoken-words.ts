import { type Chunk, type EngineWord, OverlapFinder, type Turn } from "../timeline/index.ts";
import { assignSpeakers, type SpokenWord } from "./assign-speakers.ts";
import { keepToTurns } from "./keep-to-turns.ts";
import { othersTurn } from "./others-turn.ts";
import { stretches } from "./stretches.ts";
import type { TrackContext } from "./tracks.ts";

/** Distance in seconds from all words of a span beyond which turns are ignored, unless there are no nearer ones. */
const nearSeconds = 60;

/**
 * Yields a track's words, moved into the turns and with speakers, one span of words at a time, in order.
 * @param heard turns that determine when somebody speaks, in order of their starts
 * @param turns turns that determine the speaker
 */
export async function* spokenWords(
  context: TrackContext,
  chunks: readonly Chunk[],
  heard: readonly Turn[],
  turns: readonly Turn[],
): AsyncGenerator<SpokenWord[]> {
  const [where, who] = [turnsNear(heard), turnsNear(turns)];
  for await (const words of stretches(context.checkpoints, chunks, context.signal)) {
    const kept = keepToTurns(words, where(words));
    await othersTurn(context.signal);
    const spoken = assignSpeakers(kept, who(words));
    await othersTurn(context.signal);
    yield spoken;
  }
}

/**
 * Returns a function that finds the turns near a span of words, or the nearest turn. Call it with one span after the
 * other.
 */
function turnsNear(turns: readonly Turn[]): (words: readonly EngineWord[]) => readonly Turn[] {
  const reaching = new OverlapFinder(turns);
  return (words) => {
    const startSeconds = words[0]?.startSeconds ?? 0;
    const endSeconds = words.at(-1)?.endSeconds ?? 0;
    const near = reaching.overlapping({
      startSeconds: startSeconds - nearSeconds,
      endSeconds: endSeconds + nearSeconds,
    });
    if (near.length > 0) return near;
    const farness = (turn: Turn) => Math.max(startSeconds - turn.endSeconds, turn.startSeconds - endSeconds);
    const [first, ...others] = turns;
    if (first === undefined) return [];
    return [others.reduce((nearest, turn) => (farness(turn) < farness(nearest) ? turn : nearest), first)];
  };
}
