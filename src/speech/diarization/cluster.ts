import {
  blockCount,
  FRAME_SAMPLES,
  HOP_FRAMES,
  LOCAL_SPEAKERS,
  SAMPLE_RATE,
  type Turn,
  WINDOW_FRAMES,
  type WorkArea,
} from "../../timeline/index.ts";
import { BlockActivity } from "./activity.ts";
import { assignFragments, assignWindow } from "./assign.ts";
import { FrameAverage } from "./frame-average.ts";
import { joinSimilar } from "./linkage.ts";
import { channelComponent, removeChannel } from "./remove-channel.ts";
import { addScaled, thresholdsFor, unit } from "./similarity.ts";
import { speechSeconds, VoiceCollector, withoutSmall } from "./speakers.ts";
import { TurnFinder } from "./turns.ts";
import { readVoices, type Voice, wholeVoice } from "./voices.ts";

/**
 * Minimum clean frames of a voice that helps find the speakers (0.8 s). 0.4 s and 1.2 s are worse on the AMI excerpts.
 */
const FOUNDING_FRAMES = Math.round((0.8 * SAMPLE_RATE) / FRAME_SAMPLES);

interface Recording {
  readonly blocks: number;
  readonly area: WorkArea;
}

/**
 * Returns the speaker turns of a whole recording, ordered by start; they overlap if several people speak at once.
 * Memory holds one block and at most 1,200 voices, regardless of the recording's length.
 */
export async function cluster(area: WorkArea): Promise<Turn[]> {
  const { sampleCount } = area.pcm;
  const recording = { blocks: blockCount(sampleCount), area };
  const centroids = await findSpeakers(recording);
  const turns = new TurnFinder(centroids.length, sampleCount / SAMPLE_RATE);
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
 * Finds the speakers' centroids in two steps: clusters whole voices, then recomputes each centroid from the fragments
 * most similar to it, which removes mistakes of the segmentation model. Only these centroids are precise enough to
 * decide which speakers are the same person.
 */
async function findSpeakers(recording: Recording): Promise<Float32Array[]> {
  const least = thresholdsFor(await channelOf(recording));
  const collector = new VoiceCollector(least);
  let clearest: Voice | undefined;
  for await (const { voices } of windows(recording)) {
    for (const voice of voices) {
      if (voice.cleanFrames >= FOUNDING_FRAMES) collector.add(voice);
      if (!clearest || voice.cleanFrames > clearest.cleanFrames) clearest = voice;
    }
  }
  const found = collector.speakers().map((group) => unit(group.sum));
  // Without clean speech, voices cannot be distinguished.
  if (found.length === 0) return clearest ? [wholeVoice(clearest)] : [];
  const groups = found.map((centroid) => ({ sum: new Float32Array(centroid.length), seconds: 0 }));
  for await (const { voices } of windows(recording)) {
    for (const [index, speaker] of assignWindow(voices, found).entries()) {
      const voice = voices[index];
      if (!voice) continue;
      for (const [at, one] of assignFragments(voice, speaker, found).entries()) {
        const fragment = voice.fragments[at];
        const group = groups[one];
        if (!fragment || !group) continue;
        const seconds = speechSeconds(fragment.end - fragment.start);
        addScaled(group.sum, fragment.embedding, seconds);
        group.seconds += seconds;
      }
    }
  }
  const spoken = groups.filter(({ seconds }) => seconds > 0);
  if (spoken.length === 0) return found;
  return withoutSmall(joinSimilar(spoken, least.ofSpeakers)).map((group) => unit(group.sum));
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
