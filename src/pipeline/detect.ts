import { Type } from "@sinclair/typebox";
import { blockCount } from "../blocks/index.ts";
import { orAborted } from "../text/index.ts";
import { type Chunk, chunkSchema, type WorkArea } from "../timeline/index.ts";
import { forEachMissingBlock, type Track, type TrackContext } from "./tracks.ts";

const planSchema = Type.Object({ chunks: Type.Array(chunkSchema) });

export interface Detected {
  /** Chunks that cover all speech, in order; empty if there is no speech. */
  readonly chunks: readonly Chunk[];
  readonly area: WorkArea;
}

/** The blocks whose speaker activity is stored. Their voices can be embedded before all speech is found. */
export class DetectedBlocks {
  readonly #blocks = new Map<string, PromiseWithResolvers<void> & { isAdded: boolean }>();

  add(track: Track, block: number): void {
    const added = this.#at(track, block);
    added.isAdded = true;
    added.resolve();
  }

  /** Returns how many blocks of a track are added without a gap from its start. */
  countFromStart(track: Track): number {
    let count = 0;
    while (this.#at(track, count).isAdded) count++;
    return count;
  }

  /** Waits until a block is added. @throws the signal's reason when it is aborted */
  async until(track: Track, block: number, signal: AbortSignal): Promise<void> {
    await orAborted(this.#at(track, block).promise, signal);
  }

  #at({ index }: Track, block: number) {
    const name = `${index} ${block}`;
    const known = this.#blocks.get(name) ?? { ...Promise.withResolvers<void>(), isAdded: false };
    this.#blocks.set(name, known);
    return known;
  }
}

/** Returns whether the chunks of a track are known from an earlier attempt. */
export function isPlanned({ checkpoints }: TrackContext): boolean {
  return checkpoints.read("plan", 0, planSchema) !== null;
}

/**
 * Runs the step `detect`: finds speech. The same model gives the speaker activity for diarization.
 * @param blocks receives the finished blocks
 */
export async function detect(context: TrackContext, track: Track, blocks: DetectedBlocks): Promise<Detected> {
  const { area, engine, signal, checkpoints } = context;
  await forEachMissingBlock(context, "activity", "activity", "detectBlock", async (block, run) => {
    await run();
    blocks.add(track, block);
  });
  // The blocks of an earlier attempt.
  for (let block = 0; block < blockCount(track.pcm.sampleCount); block++) blocks.add(track, block);
  let plan = checkpoints.read("plan", 0, planSchema);
  if (plan === null) {
    plan = await engine.run("planChunks", { area, joinsTurns: track.isParty }, signal);
    // An earlier version of the program may have planned and transcribed other chunks.
    for (const step of ["transcribe", "translate"]) checkpoints.clear(step);
    checkpoints.write("plan", 0, planSchema, plan);
  }
  return { chunks: plan.chunks, area };
}
