import { FRAME_SAMPLES, HOP_FRAMES, WINDOW_FRAMES } from "../../blocks/index.ts";
import { SAMPLE_RATE } from "../../timeline/index.ts";
import { averageLinkage, joinSimilar, mergeDown, type VoiceGroup } from "./linkage.ts";
import type { SimilarityThresholds } from "./similarity.ts";
import { divide, type SpeakerBounds, withoutSmall } from "./speaker-bounds.ts";
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

/** How voices are grouped into speakers. */
export interface Grouping extends SpeakerBounds {
  /** Whether voices are divided into `min` speakers of enough speech, instead of keeping speakers of little speech. */
  readonly isDivided: boolean;
}

/** Groups a recording's voices by person: half an hour at a time, then the resulting groups, in bounded memory. */
export class VoiceCollector {
  private voices: VoiceGroup[] = [];
  private found: VoiceGroup[] = [];

  constructor(
    private readonly least: SimilarityThresholds,
    private readonly grouping: Grouping,
  ) {}

  /** Adds a voice with some clean speech. */
  add(voice: Voice): void {
    const seconds = speechSeconds(voice.cleanFrames);
    this.voices.push({ sum: wholeVoice(voice).map((value) => value * seconds), seconds });
    if (this.voices.length >= PART_VOICES) this.settle();
  }

  /**
   * Returns the speakers found so far without those who have too little speech, unless fewer than `min` would remain.
   * Empty if there are no voices.
   */
  speakers(): VoiceGroup[] {
    const { min, isDivided } = this.grouping;
    const isWhole = this.found.length === 0;
    if (isWhole && min > 1) this.found = this.voices;
    else this.settle();
    const people = isWhole && min === 1 ? this.found : this.people(this.found, PART_GROUPS);
    const speakers = withoutSmall(people, isDivided ? 1 : min);
    return speakers.length >= min ? speakers : divide(this.found, averageLinkage(this.found), min);
  }

  /** Clusters the collected voices into groups. */
  private settle(): void {
    this.found.push(...this.groups(this.voices, PART_GROUPS));
    if (this.found.length > MAX_GROUPS) this.found = this.groups(this.found, MAX_GROUPS / 2);
    this.voices = [];
  }

  /** Returns groups of voices that are not divided again: of one person, or of surely one if people may be divided. */
  private groups(voices: readonly VoiceGroup[], most: number): VoiceGroup[] {
    if (this.grouping.min === 1) return this.people(voices, most);
    return mergeDown(voices, averageLinkage(voices), this.least.ofMeans, most);
  }

  /** Merges voices of the same person; returns at most `most` groups. */
  private people(voices: readonly VoiceGroup[], most: number): VoiceGroup[] {
    const { ofVoices, ofMeans } = this.least;
    return joinSimilar(mergeDown(voices, averageLinkage(voices), ofVoices, most), () => ofMeans);
  }
}
