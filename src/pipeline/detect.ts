import { Type } from "@sinclair/typebox";
import { type Chunk, chunkSchema, type WorkArea } from "../timeline/index.ts";
import { forEachMissingBlock, type Track, type TrackContext } from "./tracks.ts";

const planSchema = Type.Object({ chunks: Type.Array(chunkSchema) });

export interface Detected {
  /** Chunks that cover all speech, in order; empty if there is no speech. */
  readonly chunks: readonly Chunk[];
  readonly area: WorkArea;
}

/** Runs the step `detect`: finds speech. The same model gives the speaker activity for diarization. */
export async function detect(context: TrackContext, track: Track): Promise<Detected> {
  const { area, engine, signal, checkpoints } = context;
  await forEachMissingBlock(context, "activity", "activity", "detectBlock");
  let plan = checkpoints.read("plan", 0, planSchema);
  if (plan === null) {
    plan = await engine.run("planChunks", { area, joinsTurns: track.isParty }, signal);
    // An earlier version of the program may have planned and transcribed other chunks.
    checkpoints.clear("transcribe");
    checkpoints.write("plan", 0, planSchema, plan);
  }
  return { chunks: plan.chunks, area };
}
