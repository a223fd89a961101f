import { FRAME_SAMPLES, HOP_FRAMES, SAMPLE_RATE, WINDOW_FRAMES } from "../../timeline/index.ts";
import { averageLinkage, joinSimilar, mergeDown, type VoiceGroup } from "./linkage.ts";
import type { SimilarityThresholds } from "./similarity.ts";
import { type Voice, wholeVoice } from "./voices.ts";

/** Maximum number of voices that are clustered at once (about half an hour of talk), and of the resulting groups. */
const PART_VOICES = 1200;
const PART_GROUPS = 200;
/** Maximum number of groups before they are clustered again; bounds the cost of the last step. */
const MAX_GROUPS = 600;

/** Seconds of speech per clean frame of a voice. About three windows overlap at each moment. */
const SECONDS_PER_FRAME = ((FRAME_SAMPLES / SAMPLE_RATE) * HOP_FRAMES) / WINDOW_FRAMES;

/** Returns the seconds of the recording that a number of frames of a voice represent. */
export function speechSeconds(frames: number): number {
  return frames * SECONDS_PER_FRAME;
}

/** Groups a recording's voices by person: half an hour at a time, then the resulting groups, in bounded memory. */
export class VoiceCollector {
  private voices: VoiceGroup[] = [];
  private found: VoiceGroup[] = [];

  constructor(private readonly least: SimilarityThresholds) {}

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
    if (this.found.length > MAX_GROUPS) this.found = this.people(this.found, MAX_GROUPS / 2);
    this.voices = [];
  }

  /** Merges voices of the same person; returns at most `most` groups. */
  private people(voices: readonly VoiceGroup[], most: number): VoiceGroup[] {
    const { ofVoices, ofMeans } = this.least;
    return joinSimilar(mergeDown(voices, averageLinkage(voices), ofVoices, most), () => ofMeans);
  }
}

/**
 * Removes speakers with less than 3 s of clean speech: less than 2 % in recordings under 150 s of speech, and than 0.1
 * % over 50 minutes, because chance produces more false speakers in long recordings.
 */
export function withoutSmall(groups: readonly VoiceGroup[]): VoiceGroup[] {
  const total = groups.reduce((sum, group) => sum + group.seconds, 0);
  const smallest = Math.min(0.02 * total, Math.max(3, 0.001 * total));
  const large = groups.filter((group) => group.seconds >= smallest);
  return large.length > 0 ? large : [...groups];
}
