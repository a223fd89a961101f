import { type Chunk, type EngineWord, Reaching, type Turn } from "../timeline/index.ts";
import { assignSpeakers, type SpokenWord } from "./assign-speakers.ts";
import { keepToTurns } from "./keep-to-turns.ts";
import { othersTurn } from "./others-turn.ts";
import { stretches } from "./stretches.ts";
import type { TrackContext } from "./tracks.ts";

/** Turns further than this from all words of a stretch make no difference to them, unless there are no others. */
const nearSeconds = 60;

/**
 * A track's words where somebody speaks and with who it is, a stretch at a time, in order.
 * @param heard the turns that say where somebody speaks, in order of their starts
 * @param turns those that say who
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

/** Asked for one stretch of words after the other: the turns about it, or the nearest one. */
function turnsNear(turns: readonly Turn[]): (words: readonly EngineWord[]) => readonly Turn[] {
  const reaching = new Reaching(turns);
  return (words) => {
    const startSeconds = words[0]?.startSeconds ?? 0;
    const endSeconds = words.at(-1)?.endSeconds ?? 0;
    const near = reaching.into({ startSeconds: startSeconds - nearSeconds, endSeconds: endSeconds + nearSeconds });
    if (near.length > 0) return near;
    const farness = (turn: Turn) => Math.max(startSeconds - turn.endSeconds, turn.startSeconds - endSeconds);
    const [first, ...others] = turns;
    if (first === undefined) return [];
    return [others.reduce((nearest, turn) => (farness(turn) < farness(nearest) ? turn : nearest), first)];
  };
}
