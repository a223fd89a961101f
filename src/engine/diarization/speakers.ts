import type { BlockActivity } from "./activity.ts";
import { characteristic } from "./characteristic.ts";
import { FRAME_SAMPLES, HOP_FRAMES, SAMPLE_RATE, WINDOW_FRAMES } from "./grid.ts";
import { type Link, LinkFinder } from "./links.ts";
import { join, mergeGroups, type VoiceGroup } from "./merge.ts";
import { unit } from "./vectors.ts";
import type { Voice } from "./voices.ts";
import { clustersAt, clustersOf, wardMerges } from "./ward.ts";

/**
 * Ward cost up to which voices are one person's without further thought. Between 1.8 and 2.2 makes no difference on the
 * built dialogues; above, short turns of the AMI excerpts are lost in longer ones.
 */
const CERTAIN_COST = 2;
/** Voices that are clustered at once (some 20 minutes of talk), and the groups they may leave at most. */
const PART_VOICES = 1200;
const PART_GROUPS = 200;
/** Groups that a recording may have at most before they are compared: what bounds the last step. */
const MOST_GROUPS = 600;
/**
 * Clean speech that a speaker has at least: 3 s, less in a recording under 150 s of speech (2 %), more in one over 50
 * minutes (0.1 %: half a minute in eight hours), where chance has more occasions to make somebody up.
 */
function smallestSeconds(totalSeconds: number): number {
  return Math.min(0.02 * totalSeconds, Math.max(3, 0.001 * totalSeconds));
}

/** Seconds of speech that a clean frame of a voice stands for: each moment is heard by some five windows. */
const SECONDS_PER_FRAME = ((FRAME_SAMPLES / SAMPLE_RATE) * HOP_FRAMES) / WINDOW_FRAMES;

/**
 * Gathers the voices of a recording and finds how many people they belong to. Clusters some 20 minutes at a time, then
 * the people found in each: cost grows linearly with the length, memory is bounded.
 */
export class VoiceGathering {
  private voices: VoiceGroup[] = [];
  private links = new LinkFinder();
  private found: VoiceGroup[] = [];

  /** Takes the voices of the next window (`window` counts from the block's first). */
  add(activity: BlockActivity, window: number, voices: readonly Voice[]): void {
    this.links.add(activity, window, voices);
    for (const voice of voices) {
      const seconds = voice.cleanFrames * SECONDS_PER_FRAME;
      this.voices.push({ sum: characteristic(voice.embedding), voices: 1, seconds });
    }
    if (this.voices.length >= PART_VOICES) this.settle();
  }

  /** The speakers' centroids, of unit length; `count` where their number is known. Empty where there are no voices. */
  speakers(count?: number): Float32Array[] {
    // A recording of one part is merged down to `count` with all that is known about its voices.
    const isWhole = this.found.length === 0;
    this.settle(isWhole ? count : undefined);
    const groups = isWhole ? this.found : mergeGroups(this.found, [], [], count);
    const total = groups.reduce((sum, group) => sum + group.seconds, 0);
    const smallest = count === undefined ? smallestSeconds(total) : 0;
    return groups.filter((group) => group.seconds >= smallest).map((group) => unit(group.sum));
  }

  /** Turns the voices gathered so far into people. */
  private settle(count?: number): void {
    if (this.voices.length === 0) return;
    const { labels, groups } = certainGroups(this.voices, PART_GROUPS);
    const between = (links: readonly Link[]) =>
      links.map(({ a, b }) => ({ a: labels[a] ?? 0, b: labels[b] ?? 0 })).filter(({ a, b }) => a !== b);
    this.found.push(...mergeGroups(groups, between(this.links.same), between(this.links.apart), count));
    if (this.found.length > MOST_GROUPS) this.found = certainGroups(this.found, MOST_GROUPS / 2).groups;
    this.voices = [];
    this.links = new LinkFinder();
  }
}

/** Groups by Ward's method: what is certainly one person's, and at most `most` groups. */
function certainGroups(voices: readonly VoiceGroup[], most: number): { labels: number[]; groups: VoiceGroup[] } {
  const points = voices.map(({ sum, voices: weight }) => ({ vector: sum.map((value) => value / weight), weight }));
  const merges = wardMerges(points);
  const certain = clustersAt(merges, points.length, CERTAIN_COST);
  const isFew = certain.every((label) => label < most);
  const labels = isFew ? certain : clustersOf(merges, points.length, most);
  const groups: VoiceGroup[] = [];
  voices.forEach((voice, index) => {
    const label = labels[index] ?? 0;
    const group = groups[label];
    groups[label] = group === undefined ? voice : join(group, voice);
  });
  return { labels, groups };
}
