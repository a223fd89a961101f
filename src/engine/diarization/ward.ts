import { dot, type WeightedVector } from "./vectors.ts";

/** Two clusters become one. Clusters 0…n-1 are the points; merge i makes cluster n+i. */
export interface Merge {
  left: number;
  right: number;
  /** √(2·w₁w₂/(w₁+w₂))·|c₁−c₂|: how much further the members lie from their mean afterwards. */
  cost: number;
}

/**
 * Ward's hierarchical clustering of weighted points, by the nearest-neighbour chain (F. Murtagh, 1983): n−1 merges in
 * ascending order of cost. Takes n²/2 floats and time of the order n² (plus n²/2 dot products), n at most some 2,000.
 */
export function wardMerges(points: readonly WeightedVector[]): Merge[] {
  const count = points.length;
  const weights = Float64Array.from(points, (point) => point.weight);
  const costs = pairCosts(points);
  const active = new Set(points.keys());
  const found: { a: number; b: number; cost: number }[] = [];
  const chain: number[] = [];
  while (active.size > 1) {
    if (chain.length === 0) chain.push(first(active));
    const tip = chain.at(-1) ?? 0;
    const before = chain.at(-2);
    let next = before ?? -1;
    let least = before === undefined ? Number.POSITIVE_INFINITY : (costs[pair(tip, before)] ?? 0);
    for (const other of active) {
      const cost = other === tip ? Number.POSITIVE_INFINITY : (costs[pair(tip, other)] ?? 0);
      if (cost < least) {
        least = cost;
        next = other;
      }
    }
    if (next !== before) {
      chain.push(next);
      continue;
    }
    chain.length -= 2;
    found.push({ a: tip, b: next, cost: Math.sqrt(least) });
    join(tip, next, least);
  }
  return relabel(found, count);

  /** Cluster `b` goes into `a`; the distances of all others to it follow from what they were (Lance and Williams). */
  function join(a: number, b: number, between: number): void {
    const wa = weights[a] ?? 0;
    const wb = weights[b] ?? 0;
    active.delete(b);
    for (const other of active) {
      if (other === a) continue;
      const wo = weights[other] ?? 0;
      const sum = (wa + wo) * (costs[pair(a, other)] ?? 0) + (wb + wo) * (costs[pair(b, other)] ?? 0) - wo * between;
      costs[pair(a, other)] = sum / (wa + wb + wo);
    }
    weights[a] = wa + wb;
  }
}

/** The cluster of each point after all merges that cost at most `cost`, numbered by first member. */
export function clustersAt(merges: readonly Merge[], points: number, cost: number): number[] {
  return label(merges.filter((merge) => merge.cost <= cost).length, merges, points);
}

/** The cluster of each point when `clusters` of them are left, numbered by first member. */
export function clustersOf(merges: readonly Merge[], points: number, clusters: number): number[] {
  return label(Math.max(0, points - clusters), merges, points);
}

function label(steps: number, merges: readonly Merge[], points: number): number[] {
  const parent = Array.from({ length: points + steps }, (_, cluster) => cluster);
  merges.slice(0, steps).forEach(({ left, right }, step) => {
    parent[left] = points + step;
    parent[right] = points + step;
  });
  for (let cluster = parent.length - 1; cluster >= 0; cluster--) {
    const above = parent[cluster] ?? cluster;
    if (above !== cluster) parent[cluster] = parent[above] ?? above;
  }
  const numbers = new Map<number, number>();
  return parent.slice(0, points).map((root) => {
    const number = numbers.get(root) ?? numbers.size;
    numbers.set(root, number);
    return number;
  });
}

/** Squared costs of joining each two points, as a triangle. */
function pairCosts(points: readonly WeightedVector[]): Float32Array {
  const costs = new Float32Array((points.length * (points.length - 1)) / 2);
  const squares = points.map(({ vector }) => dot(vector, vector));
  points.forEach((a, i) => {
    for (let j = 0; j < i; j++) {
      const b = points[j];
      if (b === undefined) continue;
      const distance = Math.max(0, (squares[i] ?? 0) + (squares[j] ?? 0) - 2 * dot(a.vector, b.vector));
      costs[pair(i, j)] = ((2 * a.weight * b.weight) / (a.weight + b.weight)) * distance;
    }
  });
  return costs;
}

function pair(a: number, b: number): number {
  return a > b ? (a * (a - 1)) / 2 + b : (b * (b - 1)) / 2 + a;
}

function first(set: ReadonlySet<number>): number {
  for (const value of set) return value;
  return 0;
}

/** Merges in ascending order, in terms of cluster numbers instead of surviving points. */
function relabel(found: { a: number; b: number; cost: number }[], points: number): Merge[] {
  const cluster = Array.from({ length: points }, (_, point) => point);
  const root = Array.from({ length: points }, (_, point) => point);
  const find = (point: number): number => {
    let at = point;
    while (root[at] !== at) at = root[at] ?? at;
    return at;
  };
  // Ward's costs never fall from a cluster to the one that holds it, so sorting keeps children before parents.
  return found
    .map((merge, index) => ({ ...merge, index }))
    .sort((x, y) => x.cost - y.cost || x.index - y.index)
    .map(({ a, b, cost }, step) => {
      const rootA = find(a);
      const rootB = find(b);
      const merge = { left: cluster[rootA] ?? rootA, right: cluster[rootB] ?? rootB, cost };
      root[rootB] = rootA;
      cluster[rootA] = points + step;
      return merge;
    });
}
