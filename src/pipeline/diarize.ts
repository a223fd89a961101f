import { Type } from "@sinclair/typebox";
import { blockCount } from "../blocks/index.ts";
import { type Chunk, secondsOf, type Turn, turnSchema } from "../timeline/index.ts";
import { knowsVoices, type SpeakerVoice } from "../voices/index.ts";
import type { DetectedBlocks } from "./detect.ts";
import { type ComparedFragment, type Fragment, fragmentsOf, runSecondPass } from "./second-pass.ts";
import type { PipelineServices } from "./services.ts";
import { allotSpeakers, boundsOf, type SpeakerBounds } from "./speaker-bounds.ts";
import { spokenWords } from "./spoken-words.ts";
import { partOfStep, type StepContext } from "./step.ts";
import { eachTrack, forEachMissingBlock, type Track, type TrackContext } from "./tracks.ts";

const turnsSchema = Type.Object({ turns: Type.Array(turnSchema) });

/** The speakers' turns over a whole track, in order. They overlap where speakers do. */
export interface Diarized {
  /** Turns of the first pass, which determine when somebody speaks. */
  readonly speechTurns: readonly Turn[];
  /** Turns after the second pass, which determine the speaker. */
  readonly speakerTurns: readonly Turn[];
  /** Fragments whose voices were compared, in order. */
  readonly compared: readonly ComparedFragment[];
}

/** A track whose words are known. */
interface TranscribedTrack extends Track {
  readonly chunks: readonly Chunk[];
  readonly wordCount: number;
}

/**
 * Computes the voice embeddings of all tracks, and the turns of a single one. They need no words, so they are computed
 * while speech is detected and words are recognized: the machines of a fleet then have parts to process while the server
 * clusters speakers.
 * @param context without progress: that of the words is shown
 * @param blocks the blocks with known speaker activity
 */
export async function findVoices(
  context: StepContext,
  tracks: readonly Track[],
  blocks: DetectedBlocks,
): Promise<void> {
  await eachTrack(context, tracks, async (own, track) => {
    await forEachMissingBlock(own, "voices", "embeddings", "embedBlock", async (block, run) => {
      await blocks.until(track, block, own.signal);
      await run();
    });
    if (tracks.length > 1) return {};
    // Clustering reads the activity of all blocks, also of those whose voices are stored from an earlier attempt.
    for (let block = 0; block < blockCount(track.pcm.sampleCount); block++) {
      await blocks.until(track, block, own.signal);
    }
    await clusterSpeakers(own, 0, boundsOf(context.recording));
    return {};
  });
}

/** Runs the step `diarize` on tracks whose voices are known. Tracks without words have no turns. @param shareOf returns a track's share of the work */
export async function diarize<T extends TranscribedTrack>(
  context: StepContext,
  tracks: readonly T[],
  shareOf: (track: T) => number,
): Promise<(T & Diarized)[]> {
  const bounds = boundsOf(context.recording);
  const isOnly = tracks.filter(({ wordCount }) => wordCount > 0).length === 1;
  const clustered = async (track: TrackContext, { wordCount }: T) => ({
    speechTurns: wordCount === 0 ? [] : await clusterSpeakers(track, 0, isOnly ? bounds : {}),
  });
  const found = await eachTrack(partOfStep(context, 0, 0.1), tracks, clustered, shareOf);
  const allotted = allotSpeakers(bounds, found.map(speakersOf));
  const compared = async (track: TrackContext, spoken: (typeof found)[number]) => {
    const { index, chunks, wordCount, speechTurns } = spoken;
    if (wordCount === 0) return { speechTurns, speakerTurns: speechTurns, compared: [] };
    const speakers = allotted[index] ?? 0;
    const isChanged = !isOnly && speakers !== speakersOf(spoken).speakers;
    const exact = { minSpeakers: speakers, maxSpeakers: speakers };
    const turns = isChanged ? await clusterSpeakers(track, 1, exact) : speechTurns;
    const fragments: Fragment[] = [];
    for await (const words of spokenWords(track, chunks, turns, turns)) {
      for (const fragment of fragmentsOf(words)) fragments.push(fragment);
    }
    const fewest = bounds.minSpeakers === undefined ? 1 : isOnly ? bounds.minSpeakers : speakers;
    const second = await runSecondPass(track, fragments, turns, fewest);
    return { speechTurns: turns, speakerTurns: second.turns, compared: second.compared };
  };
  return await eachTrack(partOfStep(context, 0.1, 1), found, compared, shareOf);
}

/**
 * Returns the voices of all speakers who have words, if the recording's account remembers voices. A recording of which
 * nothing is kept has none. They are in no checkpoint: the transaction that completes the recording stores them.
 * @param numbers the numbers of each track's speakers in the transcript
 */
export async function findSpeakerVoices(
  { store }: Pick<PipelineServices, "store">,
  context: StepContext,
  tracks: readonly (Track & Pick<Diarized, "speakerTurns">)[],
  numbers: readonly ReadonlyMap<number, number>[],
): Promise<SpeakerVoice[]> {
  const { accountId, isTransient, rerunOf } = context.recording;
  if ((isTransient && rerunOf === null) || !knowsVoices(store, accountId)) return [];
  const silent = { ...context, progress: () => {} };
  const found = await eachTrack(silent, tracks, async ({ area, engine, signal }, { speakerTurns }) =>
    speakerTurns.length === 0
      ? { voices: [] }
      : await engine.run("describeSpeakers", { area, turns: [...speakerTurns] }, signal),
  );
  return found.flatMap(({ voices }, track) =>
    voices.flatMap(({ speaker: own, seconds, embedding }) => {
      const speaker = numbers[track]?.get(own);
      return speaker === undefined ? [] : [{ speaker, seconds, embedding: Float32Array.from(embedding) }];
    }),
  );
}

function speakersOf({ speechTurns }: Pick<Diarized, "speechTurns">) {
  return {
    speakers: new Set(speechTurns.map(({ speaker }) => speaker)).size,
    seconds: speechTurns.reduce((sum, turn) => sum + secondsOf(turn), 0),
  };
}

/** Finds the turns of a track whose voices are known. @param part number of the checkpoint */
async function clusterSpeakers(context: TrackContext, part: number, bounds: SpeakerBounds): Promise<readonly Turn[]> {
  const { area, engine, signal, checkpoints } = context;
  const finished = checkpoints.read("turns", part, turnsSchema);
  if (finished !== null) return finished.turns;
  const result = await engine.run("clusterSpeakers", { area, ...bounds }, signal);
  checkpoints.write("turns", part, turnsSchema, result);
  return result.turns;
}
