import { Type } from "@sinclair/typebox";
import { blockCount, hasBlock } from "../blocks/index.ts";
import type { Chunk, PcmFile, WorkArea } from "../timeline/index.ts";
import { forEachMissingPart, type StepContext } from "./step.ts";

/**
 * A track that is transcribed separately: a whole recording, or one party of a call with a separate channel for each.
 * All tracks of a recording have its length.
 */
export interface Track {
  /** Zero-based number of the track. */
  readonly index: number;
  /** Whether it is one party of a call, which is silent while the other speaks. */
  readonly isParty: boolean;
  readonly pcm: PcmFile;
}

/** A chunk of a track. */
export interface TrackChunk {
  readonly area: WorkArea;
  readonly chunk: Chunk;
}

/** The context of a step on one track, with the track's own work area and checkpoints. */
export interface TrackContext extends StepContext {
  readonly area: WorkArea;
}

/**
 * Runs a step on one track after the other, and adds the step's result to each track.
 * @param shareOf returns a track's share of the step's work, in any unit; it determines the progress. By default, all
 *   tracks have the same share
 */
export async function eachTrack<T extends Track, R extends object>(
  context: StepContext,
  tracks: readonly T[],
  doTrack: (context: TrackContext, track: T) => Promise<R>,
  shareOf: (track: T) => number = () => 1,
): Promise<(T & R)[]> {
  const whole = tracks.reduce((sum, track) => sum + shareOf(track), 0);
  const done: (T & R)[] = [];
  let before = 0;
  for (const track of tracks) {
    const share = shareOf(track) / whole;
    const from = before;
    const trackContext: TrackContext = {
      ...context,
      area: { directory: context.files.trackDirectory(track.index), pcm: track.pcm },
      checkpoints: context.checkpoints.ofTrack(track.index),
      progress: (fraction) => context.progress(fraction === null ? null : Math.min(1, from + share * fraction)),
    };
    done.push({ ...track, ...(await doTrack(trackContext, track)) });
    before += share;
  }
  return done;
}

const blockSchema = Type.Object({});

/**
 * Runs an operation for the missing blocks of a track.
 * @param step the checkpoints' name, which differs from the names that earlier versions used for other blocks
 * @param around runs the given operation of a block, and what has to happen before and after it
 */
export async function forEachMissingBlock(
  context: TrackContext,
  step: string,
  kind: "activity" | "embeddings",
  operation: "detectBlock" | "embedBlock",
  around: (block: number, run: () => Promise<void>) => Promise<void> = (_, run) => run(),
): Promise<void> {
  const { area, engine, signal, checkpoints } = context;
  const runBlock = (block: number) =>
    around(block, async () => {
      await engine.run(operation, { area, block }, signal);
      checkpoints.write(step, block, blockSchema, {});
    });
  const isIntact = (block: number) => hasBlock(area, kind, block);
  await forEachMissingPart(context, step, blockCount(area.pcm.sampleCount), runBlock, isIntact);
}
