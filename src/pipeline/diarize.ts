import { Type } from "@sinclair/typebox";
import { blockCount, hasBlock, type Turn, turnSchema } from "../timeline/index.ts";
import { forEachMissingPart } from "./step.ts";
import type { TrackContext } from "./tracks.ts";

const blockSchema = Type.Object({});
const turnsSchema = Type.Object({ turns: Type.Array(turnSchema) });

/** Runs the step `diarize`: returns the speakers' turns over a whole track, in order. Turns overlap where speakers do. */
export async function diarize(context: TrackContext): Promise<readonly Turn[]> {
  const { area, engine, signal, checkpoints } = context;
  const finished = checkpoints.read("turns", 0, turnsSchema);
  if (finished !== null) return finished.turns;
  // As in `detect`, checkpoints of an earlier version's blocks have another name.
  const embedPart = async (block: number) => {
    await engine.run("embedBlock", { area, block }, signal);
    checkpoints.write("voices", block, blockSchema, {});
  };
  const isIntact = (block: number) => hasBlock(area, "embeddings", block);
  await forEachMissingPart(context, "voices", blockCount(area.pcm.sampleCount), embedPart, isIntact);
  const result = await engine.run("clusterSpeakers", { area }, signal);
  checkpoints.write("turns", 0, turnsSchema, result);
  return result.turns;
}
