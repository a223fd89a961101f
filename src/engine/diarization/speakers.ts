import { unit, type WeightedVector, weightedMean } from "./vectors.ts";
import { clustersAt, clustersOf, wardMerges } from "./ward.ts";

/**
 * Ward cost at which two clusters are two people. On the dialogues, 1.8 to 1.95 gives every count right, 1.7 splits
 * voices, 2.1 begins to merge alike ones.
 */
const SPLIT_COST = 1.9;
/** Part of all speech that a speaker must have. */
const SMALLEST_PART = 0.03;
/** Points that are clustered at once, and to how many they are reduced when there are more: what bounds cost and memory. */
const MOST_POINTS = 1200;
const REDUCED_POINTS = 300;

/** Gathers the voices of a recording, however long, as at most 1200 weighted points. */
export class VoiceGathering {
  private points: WeightedVector[] = [];

  add(vector: Float32Array): void {
    this.points.push({ vector: unit(vector), weight: 1 });
    if (this.points.length >= MOST_POINTS) this.points = reduce(this.points, REDUCED_POINTS);
  }

  /** One centroid of unit length per speaker; `count` where their number is known. Empty where there are no voices. */
  speakers(count?: number): Float32Array[] {
    if (this.points.length === 0) return [];
    const merges = wardMerges(this.points);
    const labels =
      count === undefined
        ? clustersAt(merges, this.points.length, SPLIT_COST)
        : clustersOf(merges, this.points.length, count);
    const clusters = means(this.points, labels);
    const total = clusters.reduce((sum, { weight }) => sum + weight, 0);
    const large = count === undefined ? clusters.filter(({ weight }) => weight >= SMALLEST_PART * total) : clusters;
    return (large.length > 0 ? large : clusters).map(({ vector }) => unit(vector));
  }
}

function reduce(points: readonly WeightedVector[], clusters: number): WeightedVector[] {
  return means(points, clustersOf(wardMerges(points), points.length, clusters));
}

function means(points: readonly WeightedVector[], labels: readonly number[]): WeightedVector[] {
  const members: WeightedVector[][] = [];
  points.forEach((point, index) => {
    const label = labels[index] ?? 0;
    const cluster = members[label] ?? [];
    cluster.push(point);
    members[label] = cluster;
  });
  return members.map(weightedMean);
}
