import { characteristic } from "./characteristic.ts";
import { dot } from "./vectors.ts";
import type { Voice } from "./voices.ts";

/** Clusters that are tried for a voice: with three voices in a window, the best choice never needs a fourth. */
const TRIED = 3;

/**
 * The cluster of each voice of one window: the most alike in sum, no cluster twice, since the model heard them as
 * different people. -1 where there are more voices than clusters. `centroids` are of unit length.
 */
export function assignWindow(voices: readonly Voice[], centroids: readonly Float32Array[]): number[] {
  const ranked = voices.map((voice) => {
    const direction = characteristic(voice.embedding);
    return centroids
      .map((centroid, cluster) => ({ cluster, likeness: dot(direction, centroid) }))
      .sort((a, b) => b.likeness - a.likeness)
      .slice(0, TRIED);
  });
  let best: number[] = [];
  let most = Number.NEGATIVE_INFINITY;
  const chosen: number[] = [];
  choose(0, 0);
  return best;

  function choose(index: number, sum: number): void {
    if (index === voices.length) {
      if (sum > most) {
        most = sum;
        best = chosen.slice();
      }
      return;
    }
    for (const { cluster, likeness } of ranked[index] ?? []) {
      if (chosen.includes(cluster)) continue;
      chosen.push(cluster);
      // Likeness is at least -1: adding 2 makes an assigned voice always better than one left out.
      choose(index + 1, sum + likeness + 2);
      chosen.pop();
    }
    chosen.push(-1);
    choose(index + 1, sum);
    chosen.pop();
  }
}
