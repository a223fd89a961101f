import { FRAME_SAMPLES, frameSample, HOP_FRAMES, LOCAL_SPEAKERS, WINDOW_FRAMES } from "../../blocks/index.ts";
import { frameDecibels } from "../silences.ts";
import { FrameAverage } from "./frame-average.ts";
import type { FrameSpan } from "./voices.ts";

/** A frame below this probability of speech counts as a frame without speech. */
const MIN_SPEECH = 0.3;
/** A gap is only examined if it is at least this much quieter than the speech in its window. */
const BELOW_SPEECH_DECIBELS = 10;
/** Minimum length of a gap that is examined, in frames (0.5 s). */
const MIN_FRAMES = 30;
/** Frames removed at each end of a gap that borders on speech, where that speech fades out or begins (0.1 s). */
const EDGE_FRAMES = 6;
/** Minimum number of frames with detected speech in a window; with fewer, no gap of the window is examined (0.2 s). */
const MIN_SPEECH_FRAMES = 12;
/** Margin above the noise level (the quietest tenth of a block) from which a frame counts as sound. */
const ABOVE_NOISE_DECIBELS = 10;
/** Level of digital silence; lower levels are treated as this level. */
const SILENCE_DECIBELS = -90;
/** Share of MIN_FRAMES that must be sound in a gap. */
const SOUND_SHARE = 0.7;
/** Number of frames over which the maximum loudness is taken (0.2 s). Speech has pauses between its syllables. */
const SYLLABLE_FRAMES = 12;
const MAX_GAIN_DECIBELS = 50;
/** Samples over which sound fades in and out, so that no click is audible (5 ms). */
const FADE_SAMPLES = 80;

/** Minimum probability of speech in both passes, and the number of frames that must reach it (0.3 s). */
const SURE = 0.5;
const MIN_SURE_FRAMES = 18;

const PERMUTATIONS: readonly (readonly number[])[] = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
];

/** Frames of a window without detected speech, and the gain that makes their sound as loud as the speech. */
interface Gap extends FrameSpan {
  gainDecibels: number;
}

interface Suspect {
  window: number;
  gaps: readonly Gap[];
  /** Frames of the gaps, counted from the block's start. */
  times: readonly number[];
}

/** A suspect window in which the model detects speech at some of the gaps' frames. */
interface Spoken extends Suspect {
  /** Probabilities from the pass over the gaps alone: [frame][local speaker]. */
  alone: Float32Array;
}

/** The windows of a block: their overlapping samples, and the model's output for them. */
export interface SegmentedBlock {
  /** Samples from the first window's start to the last window's end. */
  samples: Float32Array;
  /** Number of samples that lie within the recording. */
  recordedSamples: number;
  windows: readonly Float32Array[];
  /** [window][frame][local speaker] */
  probabilities: Float32Array;
}

/**
 * Detects speech in gaps between much louder speech. The model depends on the loudness of its whole window and misses
 * speech far below it. A second pass therefore runs on the gaps alone, first in few windows that together contain every
 * gap. A third pass runs where the second detected enough, on the window with the gaps amplified. It also shows who of
 * the local speakers it is. Speech detected in both passes is added. The second alone takes music for speech; the third
 * alone takes a room's hiss.
 *
 * On 5 s sentences 45 dB below the speech around them, in readings not used for tuning, 87 % are found instead of 30 %;
 * at 30 dB below, 93 % instead of 87 %. Up to 20 dB below, and on all dialogues and AMI excerpts, nothing changes.
 */
export async function withQuietSpeech(
  block: SegmentedBlock,
  segment: (windows: readonly Float32Array[]) => Promise<Float32Array>,
): Promise<Float32Array> {
  const { windows, probabilities } = block;
  const found = probabilities.slice();
  const suspects = suspectsOf(block);
  if (suspects.length === 0) return found;
  const segmentGaps = async (some: readonly Suspect[]): Promise<Spoken[]> => {
    if (some.length === 0) return [];
    const alone = await segment(some.map(({ window, gaps }) => withGaps(windows[window], gaps, "alone")));
    return some.flatMap((suspect, index) => {
      const levels = windowOf(alone, index);
      const times = suspect.times.filter((time) => most(levels, time - firstFrame(suspect.window)) > MIN_SPEECH);
      return times.length === 0 ? [] : [{ ...suspect, times, alone: levels }];
    });
  };
  const few = fewOf(suspects);
  const first = await segmentGaps(few);
  const spokenAt = new Set(first.flatMap(({ times }) => times));
  const others = suspects.filter((one) => !few.includes(one) && one.times.some((time) => spokenAt.has(time)));
  const spoken = [...first, ...(await segmentGaps(others))].filter(({ gaps, alone }) =>
    gaps.some((gap) => isSure(gap, (frame) => most(alone, frame))),
  );
  if (spoken.length === 0) return found;
  const raised = await segment(spoken.map(({ window, gaps }) => withGaps(windows[window], gaps, "raised")));
  for (const [index, { window, gaps, alone: aloneLevels }] of spoken.entries()) {
    addFound(windowOf(found, window), gaps, aloneLevels, windowOf(raised, index));
  }
  return found;
}

function suspectsOf({ samples, recordedSamples, windows, probabilities }: SegmentedBlock): Suspect[] {
  const levels = frameDecibels(samples.subarray(frameSample(0)), FRAME_SAMPLES);
  const recorded = levels.subarray(0, Math.floor(recordedSamples / FRAME_SAMPLES));
  const noise = Math.max(SILENCE_DECIBELS, percentile(recorded, 0.1)) + ABOVE_NOISE_DECIBELS;
  const loudness = levels.map((_, frame) => loudest(levels, frame));
  const speech: number[] = [];
  const average = new FrameAverage(1, (_, [value]) => speech.push(value ?? 0));
  for (const window of windows.keys()) {
    const levels = windowOf(probabilities, window);
    average.add((frame) => most(levels, frame));
  }
  average.end();
  return windows
    .keys()
    .toArray()
    .flatMap((window) => {
      const first = firstFrame(window);
      const within = <T extends { slice(from: number, to: number): T }>(all: T): T =>
        all.slice(first, first + WINDOW_FRAMES);
      const gaps = gapsOf(within(speech), within(loudness), noise);
      const times = gaps.flatMap(frames).map((frame) => first + frame);
      return gaps.length === 0 ? [] : [{ window, gaps, times }];
    });
}

/** Selects suspects that together contain all gaps: greedily, until the rest is too short for a gap. */
function fewOf(suspects: readonly Suspect[]): Suspect[] {
  const left = new Set(suspects.flatMap(({ times }) => times));
  const few: Suspect[] = [];
  for (;;) {
    const gains = suspects.map(({ times }) => times.filter((time) => left.has(time)).length);
    const best = suspects[gains.indexOf(Math.max(...gains))];
    if (best === undefined || Math.max(...gains) < MIN_FRAMES) return few;
    few.push(best);
    for (const time of best.times) left.delete(time);
  }
}

/** Returns the first frame of a window, counted from the block's start. */
function firstFrame(window: number): number {
  return window * HOP_FRAMES;
}

/** Returns the gaps of a window that contain sound well above the noise. */
function gapsOf(speech: readonly number[], loudness: Float64Array, noise: number): Gap[] {
  const speechLoudness = loudness.filter((_, frame) => (speech[frame] ?? 0) >= MIN_SPEECH);
  if (speechLoudness.length < MIN_SPEECH_FRAMES) return [];
  const loud = percentile(speechLoudness, 0.75);
  const isInGap = (frame: number) =>
    (speech[frame] ?? 0) < MIN_SPEECH && (loudness[frame] ?? 0) < loud - BELOW_SPEECH_DECIBELS;
  const gaps: Gap[] = [];
  for (let start = 0; start < WINDOW_FRAMES; start++) {
    let end = start;
    while (end < WINDOW_FRAMES && isInGap(end)) end++;
    const gap = {
      start: start === 0 ? start : start + EDGE_FRAMES,
      end: end === WINDOW_FRAMES ? end : end - EDGE_FRAMES,
    };
    start = end;
    if (gap.end - gap.start < MIN_FRAMES) continue;
    const sound = loudness.subarray(gap.start, gap.end);
    if (sound.filter((level) => level > noise).length < SOUND_SHARE * MIN_FRAMES) continue;
    gaps.push({ ...gap, gainDecibels: Math.min(MAX_GAIN_DECIBELS, loud - percentile(sound, 0.9)) });
  }
  return gaps;
}

/** Returns a copy of a window: either only the amplified gaps, with silence elsewhere, or all of it. */
function withGaps(window: Float32Array | undefined, gaps: readonly Gap[], how: "alone" | "raised"): Float32Array {
  const samples = window ?? new Float32Array();
  const changed = how === "alone" ? new Float32Array(samples.length) : samples.slice();
  for (const { start, end, gainDecibels } of gaps) {
    const first = start === 0 ? 0 : frameSample(start);
    const after = end === WINDOW_FRAMES ? samples.length : frameSample(end);
    const gain = 10 ** (gainDecibels / 20);
    for (let at = first; at < after; at++) {
      const fadeIn = first === 0 ? 1 : (at - first) / FADE_SAMPLES;
      const fadeOut = after === samples.length ? 1 : (after - 1 - at) / FADE_SAMPLES;
      const share = Math.min(1, fadeIn, fadeOut);
      changed[at] = (1 - share) * (changed[at] ?? 0) + share * gain * (samples[at] ?? 0);
    }
  }
  return changed;
}

/** Adds speech that both passes detected in the gaps. The amplified pass determines the local speakers. */
function addFound(levels: Float32Array, gaps: readonly Gap[], alone: Float32Array, raised: Float32Array): void {
  const spoken = gaps.filter((gap) => isSure(gap, (frame) => Math.min(most(alone, frame), most(raised, frame))));
  const order = sameSpeakers(levels, raised, gaps);
  for (const frame of spoken.flatMap(frames)) {
    for (const [local, other] of order.entries()) {
      const index = frame * LOCAL_SPEAKERS + local;
      const found = Math.min(most(alone, frame), at(raised, frame, other));
      levels[index] = Math.max(levels[index] ?? 0, found);
    }
  }
}

/** Returns whether a gap has enough frames with surely detected speech. */
function isSure(gap: Gap, probability: (frame: number) => number): boolean {
  return frames(gap).filter((frame) => probability(frame) > SURE).length >= MIN_SURE_FRAMES;
}

/** Maps each local speaker to the local speaker of another pass who speaks at the same times outside the gaps. */
function sameSpeakers(levels: Float32Array, other: Float32Array, gaps: readonly Gap[]): readonly number[] {
  const together = new Float64Array(LOCAL_SPEAKERS * LOCAL_SPEAKERS);
  for (let frame = 0; frame < WINDOW_FRAMES; frame++) {
    if (gaps.some(({ start, end }) => frame >= start && frame < end)) continue;
    for (let pair = 0; pair < together.length; pair++) {
      const [one, two] = [Math.floor(pair / LOCAL_SPEAKERS), pair % LOCAL_SPEAKERS];
      together[pair] = (together[pair] ?? 0) + at(levels, frame, one) * at(other, frame, two);
    }
  }
  const agreement = (order: readonly number[]) =>
    order.reduce((sum, two, one) => sum + (together[one * LOCAL_SPEAKERS + two] ?? 0), 0);
  return PERMUTATIONS.reduce((best, one) => (agreement(one) > agreement(best) ? one : best));
}

function windowOf(probabilities: Float32Array, window: number): Float32Array {
  const size = WINDOW_FRAMES * LOCAL_SPEAKERS;
  return probabilities.subarray(window * size, (window + 1) * size);
}

function at(probabilities: Float32Array, frame: number, local: number): number {
  return probabilities[frame * LOCAL_SPEAKERS + local] ?? 0;
}

function most(probabilities: Float32Array, frame: number): number {
  return Math.max(...probabilities.subarray(frame * LOCAL_SPEAKERS, (frame + 1) * LOCAL_SPEAKERS));
}

function frames({ start, end }: FrameSpan): number[] {
  return Array.from({ length: end - start }, (_, index) => start + index);
}

function loudest(levels: Float64Array, frame: number): number {
  const half = SYLLABLE_FRAMES / 2;
  return Math.max(...levels.subarray(Math.max(0, frame - half), frame + half));
}

function percentile(values: Float64Array, part: number): number {
  return values.toSorted()[Math.floor(part * (values.length - 1))] ?? SILENCE_DECIBELS;
}
