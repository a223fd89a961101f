import { addScaled, dot, unit } from "./similarity.ts";

/** Voices that are treated as one person's. */
export interface VoiceGroup {
  /** Sum of the voices' unit vectors, each multiplied by its seconds. */
  sum: Float32Array;
  /** Seconds of clean speech in the voices; above 0. */
  seconds: number;
}

/** Joins one or more groups into one. */
function joinGroups(groups: readonly VoiceGroup[]): VoiceGroup {
  const sum = new Float32Array(groups[0]?.sum.length ?? 0);
  for (const group of groups) addScaled(sum, group.sum, 1);
  return { sum, seconds: groups.reduce((total, group) => total + group.seconds, 0) };
}

/** Merge of two clusters. Clusters 0…n-1 are the groups; merge i creates cluster n+i. */
export interface Merge {
  left: number;
  right: number;
  /** Mean cosine similarity between the voices of the two clusters. */
  similarity: number;
}

/**
 * Computes average linkage by the nearest-neighbour chain (F. Murtagh, 1983). Returns n−1 merges in descending order of
 * similarity, in O(n²) time and space; n is at most about 2,000.
 */
export function averageLinkage(groups: readonly VoiceGroup[]): Merge[] {
  const weights = Float64Array.from(groups, (group) => group.seconds);
  const similarities = pairSimilarities(groups);
  const active = new Set(groups.keys());
  const found: { a: number; b: number; similarity: number }[] = [];
  const chain: number[] = [];
  while (active.size > 1) {
    if (chain.length === 0) chain.push(first(active));
    const tip = chain.at(-1) ?? 0;
    const before = chain.at(-2);
    let next = before ?? -1;
    let most = before === undefined ? Number.NEGATIVE_INFINITY : (similarities[pair(tip, before)] ?? 0);
    for (const other of active) {
      const similarity = other === tip ? Number.NEGATIVE_INFINITY : (similarities[pair(tip, other)] ?? 0);
      if (similarity > most) {
        most = similarity;
        next = other;
      }
    }
    if (next !== before) {
      chain.push(next);
      continue;
    }
    chain.length -= 2;
    found.push({ a: tip, b: next, similarity: most });
    join(tip, next);
  }
  return relabel(found, groups.length);

  /** Merges cluster `b` into `a`. Similarities to other clusters become weighted means. */
  function join(a: number, b: number): void {
    const wa = weights[a] ?? 0;
    const wb = weights[b] ?? 0;
    active.delete(b);
    for (const other of active) {
      if (other === a) continue;
      const sum = wa * (similarities[pair(a, other)] ?? 0) + wb * (similarities[pair(b, other)] ?? 0);
      similarities[pair(a, other)] = sum / (wa + wb);
    }
    weights[a] = wa + wb;
  }
}

/** Applies all merges with at least this similarity, and further ones until at most `most` groups remain. */
export function mergeDown(
  groups: readonly VoiceGroup[],
  merges: readonly Merge[],
  similarity: number,
  most: number,
): VoiceGroup[] {
  const similar = merges.filter((merge) => merge.similarity >= similarity).length;
  const steps = Math.max(similar, groups.length - most);
  const parent = Array.from({ length: groups.length + steps }, (_, cluster) => cluster);
  merges.slice(0, steps).forEach(({ left, right }, step) => {
    parent[left] = groups.length + step;
    parent[right] = groups.length + step;
  });
  for (let cluster = parent.length - 1; cluster >= 0; cluster--) {
    const above = parent[cluster] ?? cluster;
    if (above !== cluster) parent[cluster] = parent[above] ?? above;
  }
  const members = Map.groupBy(groups.keys(), (group) => parent[group] ?? group);
  return [...members.values()].map((indices) => joinGroups(indices.flatMap((index) => groups[index] ?? [])));
}

/**
 * Repeatedly joins the two groups whose means exceed their minimum similarity by the most, until no pair reaches it.
 * `least` returns the minimum for the shorter speech duration of a pair, in seconds. n is at most some hundreds.
 * @param bounds the number of groups at which joining ends, and the number above which it continues in any case
 */
export function joinSimilar(
  groups: readonly VoiceGroup[],
  least: (seconds: number) => number,
  bounds = { min: 1, max: Number.POSITIVE_INFINITY },
): VoiceGroup[] {
  const left = groups.map((group) => ({ group, mean: unit(group.sum) }));
  for (;;) {
    let most = left.length > bounds.max ? Number.NEGATIVE_INFINITY : 0;
    let closest: [number, number] | undefined;
    if (left.length <= bounds.min) return left.map(({ group }) => group);
    for (let i = 1; i < left.length; i++) {
      for (let j = 0; j < i; j++) {
        const [a, b] = [left[j], left[i]];
        if (!a || !b) continue;
        const beyond = dot(a.mean, b.mean) - least(Math.min(a.group.seconds, b.group.seconds));
        if (beyond < most) continue;
        most = beyond;
        closest = [j, i];
      }
    }
    if (!closest) return left.map(({ group }) => group);
    const [j, i] = closest;
    const group = joinGroups([left[j], left[i]].flatMap((one) => one?.group ?? []));
    left[j] = { group, mean: unit(group.sum) };
    left.splice(i, 1);
  }
}

/** Returns the similarities of all pairs of groups as a triangular matrix. */
function pairSimilarities(groups: readonly VoiceGroup[]): Float32Array {
  const similarities = new Float32Array((groups.length * (groups.length - 1)) / 2);
  for (const [i, a] of groups.entries()) {
    for (let j = 0; j < i; j++) {
      const b = groups[j];
      if (b) similarities[pair(i, j)] = dot(a.sum, b.sum) / (a.seconds * b.seconds);
    }
  }
  return similarities;
}

function pair(a: number, b: number): number {
  return a > b ? (a * (a - 1)) / 2 + b : (b * (b - 1)) / 2 + a;
}

function first(set: ReadonlySet<number>): number {
  for (const value of set) return value;
  return 0;
}

/** Sorts the merges in descending order and replaces surviving groups by cluster numbers. */
function relabel(found: { a: number; b: number; similarity: number }[], groups: number): Merge[] {
  const cluster = Array.from({ length: groups }, (_, group) => group);
  const root = Array.from({ length: groups }, (_, group) => group);
  const find = (group: number): number => {
    let at = group;
    while (root[at] !== at) at = root[at] ?? at;
    return at;
  };
  // The similarity of a merge never exceeds that of the merges inside its clusters, so sorting keeps children before
  // parents.
  return found
    .map((merge, index) => ({ ...merge, index }))
    .sort((x, y) => y.similarity - x.similarity || x.index - y.index)
    .map(({ a, b, similarity }, step) => {
      const rootA = find(a);
      const rootB = find(b);
      const merge = { left: cluster[rootA] ?? rootA, right: cluster[rootB] ?? rootB, similarity };
      root[rootB] = rootA;
      cluster[rootA] = groups + step;
      return merge;
    });
}
