import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { PcmFile } from "../timeline/index.ts";
import type { StepContext } from "./step.ts";

/**
 * What is transcribed by itself: a whole recording, or one party of a call that has a channel for each. All tracks of a
 * recording are of its length.
 */
export interface Track {
  /** Counts from 0. */
  readonly index: number;
  /** Whether it is one party of a call, which is silent while the other speaks. */
  readonly isParty: boolean;
  readonly pcm: PcmFile;
}

/** A step's context on one track: directory and checkpoints are the track's own. */
export interface TrackContext extends StepContext {
  readonly pcm: PcmFile;
}

/** The directory of a track's files; the first track's is the recording's own. */
function trackDirectory(workDirectory: string, index: number): string {
  if (index === 0) return workDirectory;
  const directory = join(workDirectory, `track-${index}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

/**
 * Does a step on one track after the other, and adds to each track what the step gives.
 * @param shareOf a track's share of the step's work, in any unit: progress goes by it
 */
export async function eachTrack<T extends Track, R extends object>(
  context: StepContext,
  tracks: readonly T[],
  shareOf: (track: T) => number,
  doTrack: (context: TrackContext, track: T) => Promise<R>,
): Promise<(T & R)[]> {
  const whole = tracks.reduce((sum, track) => sum + shareOf(track), 0);
  const done: (T & R)[] = [];
  let before = 0;
  for (const track of tracks) {
    const share = shareOf(track) / whole;
    const from = before;
    const trackContext: TrackContext = {
      ...context,
      pcm: track.pcm,
      workDirectory: trackDirectory(context.workDirectory, track.index),
      checkpoints: context.checkpoints.ofTrack(track.index),
      progress: (fraction) => context.progress(fraction === null ? null : Math.min(1, from + share * fraction)),
    };
    done.push({ ...track, ...(await doTrack(trackContext, track)) });
    before += share;
  }
  return done;
}
