import { Type } from "@sinclair/typebox";
import { blockCount, type Chunk, chunkSchema, hasBlock, type WorkArea } from "../timeline/index.ts";
import { forEachMissingPart } from "./step.ts";
import type { Track, TrackContext } from "./tracks.ts";

const blockSchema = Type.Object({});
const planSchema = Type.Object({ chunks: Type.Array(chunkSchema) });

export interface Detected {
  /** Chunks that cover all speech, in order; empty if there is no speech. */
  readonly chunks: readonly Chunk[];
  readonly area: WorkArea;
}

/** Runs the step `detect`: finds speech. The same model gives the speaker activity for diarization. */
export async function detect(context: TrackContext, track: Track): Promise<Detected> {
  const { area, engine, signal, checkpoints } = context;
  // Earlier versions of the program stored other blocks under another checkpoint name, so the two are never confused.
  const detectPart = async (block: number) => {
    await engine.run("detectBlock", { area, block }, signal);
    checkpoints.write("activity", block, blockSchema, {});
  };
  const isIntact = (block: number) => hasBlock(area, "activity", block);
  await forEachMissingPart(context, "activity", blockCount(area.pcm.sampleCount), detectPart, isIntact);
  let plan = checkpoints.read("plan", 0, planSchema);
  if (plan === null) {
    plan = await engine.run("planChunks", { area, joinsTurns: track.isParty }, signal);
    // An earlier version of the program may have planned and transcribed other chunks.
    checkpoints.clear("transcribe");
    checkpoints.write("plan", 0, planSchema, plan);
  }
  return { chunks: plan.chunks, area };
}
