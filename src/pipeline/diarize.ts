import { Type } from "@sinclair/typebox";
import { type Turn, turnSchema } from "../timeline/index.ts";
import { forEachMissingBlock, type TrackContext } from "./tracks.ts";

const turnsSchema = Type.Object({ turns: Type.Array(turnSchema) });

/** Runs the step `diarize`: returns the speakers' turns of a track, in order. Turns overlap where speakers do. */
export async function diarize(context: TrackContext): Promise<readonly Turn[]> {
  const { area, engine, signal, checkpoints } = context;
  const finished = checkpoints.read("turns", 0, turnsSchema);
  if (finished !== null) return finished.turns;
  await forEachMissingBlock(context, "voices", "embeddings", "embedBlock");
  const result = await engine.run("clusterSpeakers", { area }, signal);
  checkpoints.write("turns", 0, turnsSchema, result);
  return result.turns;
}
