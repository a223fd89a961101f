import { evidenceForTwo } from "./evidence.ts";
import type { Link } from "./links.ts";
import { dot, unit } from "./vectors.ts";

/** Voices that are taken for one person's. */
export interface VoiceGroup {
  /** Sum of the voices' characteristics. */
  sum: Float32Array;
  voices: number;
  /** Clean speech in them. */
  seconds: number;
}

/** Joins two groups. */
export function join(a: VoiceGroup, b: VoiceGroup): VoiceGroup {
  return {
    sum: a.sum.map((value, index) => value + (b.sum[index] ?? 0)),
    voices: a.voices + b.voices,
    seconds: a.seconds + b.seconds,
  };
}

/**
 * Joins groups, the least different pair first, until all are different people, or until `count` are left. Links are
 * between groups by index. Takes time of the order of n² for each pair joined; n at most some hundreds.
 */
export function mergeGroups(
  groups: readonly VoiceGroup[],
  same: readonly Link[],
  apart: readonly Link[],
  count?: number,
): VoiceGroup[] {
  const left = groups.map((group, index) => ({ ...group, mean: unit(group.sum), index }));
  const size = groups.length;
  const sameCounts = linkCounts(same, size);
  const apartCounts = linkCounts(apart, size);
  const evidence = new Float64Array(size * size);
  type Left = (typeof left)[number];
  const compare = (a: Left, b: Left): void => {
    const at = a.index * size + b.index;
    const found = evidenceForTwo({
      distance: 1 - dot(a.mean, b.mean),
      lessSeconds: Math.min(a.seconds, b.seconds),
      moreSeconds: Math.max(a.seconds, b.seconds),
      same: sameCounts[at] ?? 0,
      apart: apartCounts[at] ?? 0,
      lessVoices: Math.min(a.voices, b.voices),
    });
    evidence[at] = found;
    evidence[b.index * size + a.index] = found;
  };
  for (const [position, a] of left.entries()) for (const b of left.slice(0, position)) compare(a, b);

  while (left.length > Math.max(1, count ?? 1)) {
    let least = Number.POSITIVE_INFINITY;
    let closest: [number, number] = [0, 1];
    for (let i = 1; i < left.length; i++) {
      for (let j = 0; j < i; j++) {
        const found = evidence[(left[i]?.index ?? 0) * size + (left[j]?.index ?? 0)] ?? 0;
        if (found < least) {
          least = found;
          closest = [j, i];
        }
      }
    }
    if (count === undefined && least >= 0) break;
    const [a, b] = [left[closest[0]], left[closest[1]]];
    if (a === undefined || b === undefined) break;
    Object.assign(a, join(a, b));
    a.mean = unit(a.sum);
    left.splice(closest[1], 1);
    addCounts(sameCounts, size, a.index, b.index);
    addCounts(apartCounts, size, a.index, b.index);
    for (const other of left) if (other !== a) compare(a, other);
  }
  return left.map(({ sum, voices, seconds }) => ({ sum, voices, seconds }));
}

/** Links between each two groups, both ways round. */
function linkCounts(links: readonly Link[], size: number): Float64Array {
  const counts = new Float64Array(size * size);
  for (const { a, b } of links) {
    if (a === b) continue;
    counts[a * size + b] = (counts[a * size + b] ?? 0) + 1;
    counts[b * size + a] = (counts[b * size + a] ?? 0) + 1;
  }
  return counts;
}

/** Group `from` has gone into group `into`, with its links. */
function addCounts(counts: Float64Array, size: number, into: number, from: number): void {
  for (let other = 0; other < size; other++) {
    const sum = (counts[into * size + other] ?? 0) + (counts[from * size + other] ?? 0);
    counts[into * size + other] = sum;
    counts[other * size + into] = sum;
  }
}
