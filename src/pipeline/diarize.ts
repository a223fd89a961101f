import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { isWholeBlock } from "../speech/index.ts";
import { blockCount, type Turn, turnSchema } from "../timeline/index.ts";
import { forEachMissingPart } from "./step.ts";
import type { TrackContext } from "./tracks.ts";

const blockSchema = Type.Object({});
const turnsSchema = Type.Object({ turns: Type.Array(turnSchema) });

/** Returns the directory of the voice embeddings of a track's blocks. */
export function embeddingDirectoryOf({ workDirectory }: Pick<TrackContext, "workDirectory">): string {
  return join(workDirectory, "embeddings");
}

/**
 * Runs the step `diarize`: returns the speakers' turns over a whole track, in order. Turns overlap where speakers do.
 */
export async function diarize(context: TrackContext, activityDirectory: string): Promise<readonly Turn[]> {
  const { pcm, engine, signal, checkpoints } = context;
  const finished = checkpoints.read("turns", 0, turnsSchema);
  if (finished !== null) return finished.turns;
  const embeddingDirectory = embeddingDirectoryOf(context);
  mkdirSync(embeddingDirectory, { recursive: true, mode: 0o700 });
  // As in `detect`, checkpoints of an earlier version's blocks have another name.
  const embedPart = async (block: number) => {
    await engine.run("embedBlock", { pcm, block, activityDirectory, embeddingDirectory }, signal);
    checkpoints.write("voices", block, blockSchema, {});
  };
  const isThere = (block: number) => isWholeBlock(embeddingDirectory, block);
  await forEachMissingPart(context, "voices", blockCount(pcm.sampleCount), embedPart, isThere);
  const result = await engine.run("clusterSpeakers", { pcm, activityDirectory, embeddingDirectory }, signal);
  checkpoints.write("turns", 0, turnsSchema, result);
  return result.turns;
}
