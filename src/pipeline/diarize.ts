import { Type } from "@sinclair/typebox";
import { type Turn, turnSchema } from "../timeline/index.ts";
import type { Detected } from "./detect.ts";
import { type Fragment, fragmentsOf, runSecondPass } from "./second-pass.ts";
import { spokenWords } from "./spoken-words.ts";
import { partOfStep } from "./step.ts";
import { forEachMissingBlock, type TrackContext } from "./tracks.ts";

const turnsSchema = Type.Object({ turns: Type.Array(turnSchema) });

/** The speakers' turns over a whole track, in order. They overlap where speakers do. */
export interface Diarized {
  /** Turns of the first pass, which determine when somebody speaks. */
  readonly speechTurns: readonly Turn[];
  /** Turns after the second pass, which determine the speaker. */
  readonly speakerTurns: readonly Turn[];
}

/** Runs the step `diarize` for a track with words. */
export async function diarize(context: TrackContext, { chunks }: Detected): Promise<Diarized> {
  const speechTurns = await runFirstPass(partOfStep(context, 0, 0.9));
  const fragments: Fragment[] = [];
  for await (const words of spokenWords(context, chunks, speechTurns, speechTurns)) {
    for (const fragment of fragmentsOf(words)) fragments.push(fragment);
  }
  return { speechTurns, speakerTurns: await runSecondPass(partOfStep(context, 0.9, 1), fragments, speechTurns) };
}

async function runFirstPass(context: TrackContext): Promise<readonly Turn[]> {
  const { area, engine, signal, checkpoints } = context;
  const finished = checkpoints.read("turns", 0, turnsSchema);
  if (finished !== null) return finished.turns;
  await forEachMissingBlock(context, "voices", "embeddings", "embedBlock");
  const result = await engine.run("clusterSpeakers", { area }, signal);
  checkpoints.write("turns", 0, turnsSchema, result);
  return result.turns;
}
