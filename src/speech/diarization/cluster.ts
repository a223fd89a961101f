import { blockCount, FRAME_SAMPLES, HOP_FRAMES, LOCAL_SPEAKERS, WINDOW_FRAMES } from "../../blocks/index.ts";
import { SAMPLE_RATE, type Turn, type WorkArea } from "../../timeline/index.ts";
import { BlockActivity } from "./activity.ts";
import { assignFragments, assignWindow } from "./assign.ts";
import { FrameAverage } from "./frame-average.ts";
import { joinSimilar } from "./linkage.ts";
import { channelComponent, removeChannel } from "./remove-channel.ts";
import { addScaled, dot, thresholdsFor, unit } from "./similarity.ts";
import { type SpeakerBounds, withoutSmall } from "./speaker-bounds.ts";
import { type Grouping, speechSeconds, VoiceCollector } from "./speakers.ts";
import { TurnFinder } from "./turns.ts";
import { partsOf } from "./voice-parts.ts";
import { readVoices, type Voice, wholeVoice } from "./voices.ts";

/**
 * Minimum clean frames of a voice that helps find the speakers (0.8 s). 0.4 s and 1.2 s are worse on the AMI excerpts.
 */
const FOUNDING_FRAMES = Math.round((0.8 * SAMPLE_RATE) / FRAME_SAMPLES);
/**
 * The same for a part of a divided voice (1 s). With 0.8 s, one stressed word of a reading counts as another speaker.
 */
const FOUNDING_PART_FRAMES = Math.round((1 * SAMPLE_RATE) / FRAME_SAMPLES);

const UNBOUNDED: SpeakerBounds = { min: 1, max: Number.POSITIVE_INFINITY };
/** Maximum number of speakers in addition to those asked for, in place of speakers without a turn. */
const MAX_SURPLUS = 3;
/** Speakers by the similarity of voices alone. */
const SIMILAR: Grouping = { ...UNBOUNDED, isDivided: false };

interface Recording {
  readonly blocks: number;
  readonly area: WorkArea;
}

/**
 * Returns the speaker turns of a whole recording, ordered by start; they overlap if several people speak at once.
 * Memory holds one block and at most 1,200 voices, regardless of the recording's length.
 *
 * Bounds matter only if the number of speakers that the voices alone give is outside them. With too few, voices are
 * divided further; with too many, the most similar speakers are merged. The number remains outside the bounds only if
 * the recording has too few distinguishable voices.
 */
export async function cluster(area: WorkArea, bounds = UNBOUNDED): Promise<Turn[]> {
  const recording = { blocks: blockCount(area.pcm.sampleCount), area };
  let best: Turn[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const grouping of groupingsFor(bounds)) {
    const turns = await findTurns(recording, await findSpeakers(recording, grouping));
    const beyond = distanceTo(bounds, new Set(turns.map(({ speaker }) => speaker)).size);
    if (beyond < least) [best, least] = [turns, beyond];
    if (beyond === 0 || turns.length === 0) break;
  }
  return best;
}

/** Returns the ways to group voices, in the order in which they are tried. */
function groupingsFor({ min, max }: SpeakerBounds): Grouping[] {
  const divided = Array.from({ length: MAX_SURPLUS + 1 }, (_, surplus) => {
    return { min: min + surplus, max: max + surplus, isDivided: true };
  });
  return [SIMILAR, { min, max, isDivided: false }, ...divided];
}

/** Returns by how many speakers a number of them is outside the bounds. */
function distanceTo({ min, max }: SpeakerBounds, speakers: number): number {
  return Math.max(0, min - speakers, speakers - max);
}

async function findTurns(recording: Recording, centroids: readonly Float32Array[]): Promise<Turn[]> {
  const turns = new TurnFinder(centroids.length, recording.area.pcm.sampleCount / SAMPLE_RATE);
  const average = new FrameAverage(centroids.length, (frame, values) => turns.add(frame, values));
  for await (const { activity, window, voices } of windows(recording)) {
    const speakers = speakersByFrame(voices, centroids);
    average.add((frame, speaker) => {
      let sum = 0;
      for (let local = 0; local < LOCAL_SPEAKERS; local++) {
        if (speakers[frame * LOCAL_SPEAKERS + local] === speaker) sum += activity.probability(window, frame, local);
      }
      return Math.min(1, sum);
    });
  }
  average.end();
  return turns.end();
}

/**
 * Finds the speakers' centroids in two steps: clusters voices, divided where the segmentation model merged several people,
 * then recomputes each centroid from the fragments most similar to it. Only these centroids are precise enough to
 * decide which speakers are the same person.
 */
async function findSpeakers(recording: Recording, grouping: Grouping): Promise<Float32Array[]> {
  const { min, max } = grouping;
  const least = thresholdsFor(await channelOf(recording));
  const collector = new VoiceCollector(least, grouping);
  let clearest: Voice | undefined;
  for await (const { voices } of windows(recording)) {
    for (const voice of voices) {
      const parts = partsOf(voice);
      const founding = parts.length > 1 ? FOUNDING_PART_FRAMES : FOUNDING_FRAMES;
      for (const part of parts) if (part.cleanFrames >= (min > 1 ? 1 : founding)) collector.add(part);
      if (!clearest || voice.cleanFrames > clearest.cleanFrames) clearest = voice;
    }
  }
  const found = collector.speakers().map((group) => unit(group.sum));
  // Without clean speech, voices cannot be distinguished.
  if (found.length === 0) return clearest ? [wholeVoice(clearest)] : [];
  const groups = found.map((centroid) => ({ sum: new Float32Array(centroid.length), seconds: 0 }));
  for await (const { voices } of windows(recording)) {
    for (const { start, end, embedding } of voices.flatMap(({ fragments }) => fragments)) {
      const group = groups[nearest(embedding, found)];
      if (group === undefined) continue;
      const seconds = speechSeconds(end - start);
      addScaled(group.sum, embedding, seconds);
      group.seconds += seconds;
    }
  }
  const spoken = groups.filter(({ seconds }) => seconds > 0);
  if (spoken.length < min) return found;
  // Speakers who are removed in the end must not take the place of others.
  const known = min > 1 ? withoutSmall(spoken, min) : spoken;
  const joined = withoutSmall(joinSimilar(known, least.ofSpeakers, { min, max: Number.POSITIVE_INFINITY }), min);
  return joinSimilar(joined, least.ofSpeakers, { min, max }).map((group) => unit(group.sum));
}

/** Returns the index of the centroid that is most similar to an embedding. */
function nearest(embedding: Float32Array, centroids: readonly Float32Array[]): number {
  const similarities = centroids.map((centroid) => dot(embedding, centroid));
  return similarities.indexOf(Math.max(...similarities));
}

/** Returns the mean channel component of a recording's fragments (see `channelComponent`); 0 if there are none. */
async function channelOf({ blocks, area }: Recording): Promise<number> {
  let sum = 0;
  let count = 0;
  for (let block = 0; block < blocks; block++) {
    for (const { fragments } of await readVoices(area, block)) {
      for (const { embedding } of fragments) sum += channelComponent(embedding);
      count += fragments.length;
    }
  }
  return count === 0 ? 0 : sum / count;
}

/** Yields all windows of a recording in order, each with its voices without their channel component, block by block. */
async function* windows({ blocks, area }: Recording) {
  for (let block = 0; block < blocks; block++) {
    const activity = await BlockActivity.read(area, block);
    const cleaned = (await readVoices(area, block)).map((voice) => ({
      ...voice,
      fragments: voice.fragments.map((fragment) => ({ ...fragment, embedding: removeChannel(fragment.embedding) })),
    }));
    const voices = Map.groupBy(cleaned, (voice) => voice.window);
    for (let window = 0; window < activity.windows; window++) {
      yield { activity, window, voices: voices.get(activity.firstWindow + window) ?? [] };
    }
  }
}

/** Returns the speaker of each local speaker of a window for each frame: [frame][local speaker], -1 for none. */
function speakersByFrame(voices: readonly Voice[], centroids: readonly Float32Array[]): Int32Array {
  const speakers = new Int32Array(WINDOW_FRAMES * LOCAL_SPEAKERS).fill(-1);
  for (const [index, speaker] of assignWindow(voices, centroids).entries()) {
    const voice = voices[index];
    if (!voice) continue;
    const ofFragments = assignFragments(voice, speaker, centroids);
    let fragment = 0;
    for (let frame = 0; frame < WINDOW_FRAMES; frame++) {
      while (fragment + 1 < ofFragments.length && voice.window * HOP_FRAMES + frame >= middleAfter(voice, fragment))
        fragment++;
      speakers[frame * LOCAL_SPEAKERS + voice.local] = ofFragments[fragment] ?? -1;
    }
  }
  return speakers;
}

/** Returns the frame halfway between a fragment and the next one. */
function middleAfter({ fragments }: Voice, fragment: number): number {
  return ((fragments[fragment]?.end ?? 0) + (fragments[fragment + 1]?.start ?? 0)) / 2;
}
