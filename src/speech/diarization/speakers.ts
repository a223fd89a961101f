import { FRAME_SAMPLES, HOP_FRAMES, SAMPLE_RATE, WINDOW_FRAMES } from "../../timeline/index.ts";
import { averageLinkage, joinAlike, mergeDown, type VoiceGroup } from "./linkage.ts";
import type { LeastLikenesses } from "./similarity.ts";
import { type Voice, wholeVoice } from "./voices.ts";

/**
 * Number of voices that are clustered at once (about half an hour of talk), and maximum number of groups that result.
 */
const PART_VOICES = 1200;
const PART_GROUPS = 200;
/** Maximum number of groups before they are clustered again; bounds the cost of the last step. */
const MOST_GROUPS = 600;

/** Seconds of speech per clean frame of a voice. About three windows overlap at each moment. */
const SECONDS_PER_FRAME = ((FRAME_SAMPLES / SAMPLE_RATE) * HOP_FRAMES) / WINDOW_FRAMES;

/** Returns the seconds of the recording that a number of frames of a voice represent. */
export function speechSeconds(frames: number): number {
  return frames * SECONDS_PER_FRAME;
}

/**
 * Collector of a recording's voices that groups them by person. Clusters half an hour at a time, then the resulting
 * groups. The cost grows linearly with the length, and memory is bounded.
 */
export class VoiceGathering {
  private voices: VoiceGroup[] = [];
  private found: VoiceGroup[] = [];

  constructor(private readonly least: LeastLikenesses) {}

  /** Adds a voice with some clean speech. */
  add(voice: Voice): void {
    const seconds = speechSeconds(voice.cleanFrames);
    this.voices.push({ sum: wholeVoice(voice).map((value) => value * seconds), seconds });
    if (this.voices.length >= PART_VOICES) this.settle();
  }

  /** Returns the speakers found so far without those who have too little speech. Empty if there are no voices. */
  speakers(): VoiceGroup[] {
    const isWhole = this.found.length === 0;
    this.settle();
    return withoutSmall(isWhole ? this.found : this.people(this.found, PART_GROUPS));
  }

  /** Clusters the collected voices into groups. */
  private settle(): void {
    this.found.push(...this.people(this.voices, PART_GROUPS));
    if (this.found.length > MOST_GROUPS) this.found = this.people(this.found, MOST_GROUPS / 2);
    this.voices = [];
  }

  /** Merges voices of the same person; returns at most `most` groups. */
  private people(voices: readonly VoiceGroup[], most: number): VoiceGroup[] {
    const { ofVoices, ofMeans } = this.least;
    return joinAlike(mergeDown(voices, averageLinkage(voices), ofVoices, most), () => ofMeans);
  }
}

/**
 * Removes speakers with too little clean speech. The minimum is 3 s, and 2 % of the speech if that is less than 3 s (in
 * recordings under 150 s of speech). Over 50 minutes of speech it is 0.1 % (half a minute in eight hours). In long
 * recordings, chance produces false speakers more often.
 */
export function withoutSmall(groups: readonly VoiceGroup[]): VoiceGroup[] {
  const total = groups.reduce((sum, group) => sum + group.seconds, 0);
  const smallest = Math.min(0.02 * total, Math.max(3, 0.001 * total));
  const large = groups.filter((group) => group.seconds >= smallest);
  return large.length > 0 ? large : [...groups];
}
