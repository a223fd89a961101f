import { FRAME_SAMPLES, HOP_FRAMES, SAMPLE_RATE, WINDOW_FRAMES } from "../../timeline/index.ts";
import type { LeastLikenesses } from "./likeness.ts";
import { averageLinkage, joinAlike, mergeDown, type VoiceGroup } from "./linkage.ts";
import { type Voice, wholeVoice } from "./voices.ts";

/** Voices that are clustered at once (some half an hour of talk), and the groups they may leave at most. */
const PART_VOICES = 1200;
const PART_GROUPS = 200;
/** Groups that a recording may have before they are clustered once more: what bounds the last step. */
const MOST_GROUPS = 600;

/** Seconds of speech that a clean frame of a voice stands for: each moment is heard by some three windows. */
const SECONDS_PER_FRAME = ((FRAME_SAMPLES / SAMPLE_RATE) * HOP_FRAMES) / WINDOW_FRAMES;

/** Seconds of the recording that so many frames of a voice stand for. */
export function speechSeconds(frames: number): number {
  return frames * SECONDS_PER_FRAME;
}

/**
 * Gathers the voices of a recording and finds which of them are one person's. Clusters half an hour at a time, then the
 * people found in each: cost grows linearly with the length, memory is bounded.
 */
export class VoiceGathering {
  private voices: VoiceGroup[] = [];
  private found: VoiceGroup[] = [];

  constructor(private readonly least: LeastLikenesses) {}

  /** Takes a voice with some clean speech. */
  add(voice: Voice): void {
    const seconds = speechSeconds(voice.cleanFrames);
    this.voices.push({ sum: wholeVoice(voice).map((value) => value * seconds), seconds });
    if (this.voices.length >= PART_VOICES) this.settle();
  }

  /** The people heard so far, but for those with too little speech. Empty where there are no voices. */
  speakers(): VoiceGroup[] {
    const isWhole = this.found.length === 0;
    this.settle();
    return withoutSmall(isWhole ? this.found : this.people(this.found, PART_GROUPS));
  }

  /** Turns the voices gathered so far into people. */
  private settle(): void {
    this.found.push(...this.people(this.voices, PART_GROUPS));
    if (this.found.length > MOST_GROUPS) this.found = this.people(this.found, MOST_GROUPS / 2);
    this.voices = [];
  }

  /** Joins what is one person's: at most `most` groups are left. */
  private people(voices: readonly VoiceGroup[], most: number): VoiceGroup[] {
    const { ofVoices, ofMeans } = this.least;
    return joinAlike(mergeDown(voices, averageLinkage(voices), ofVoices, most), () => ofMeans);
  }
}

/**
 * Leaves out who has too little clean speech: 3 s, less in a recording under 150 s of speech (2 %), more in one over 50
 * minutes (0.1 %: half a minute in eight hours), where chance has more occasions to make somebody up.
 */
export function withoutSmall(groups: readonly VoiceGroup[]): VoiceGroup[] {
  const total = groups.reduce((sum, group) => sum + group.seconds, 0);
  const smallest = Math.min(0.02 * total, Math.max(3, 0.001 * total));
  const large = groups.filter((group) => group.seconds >= smallest);
  return large.length > 0 ? large : [...groups];
}
