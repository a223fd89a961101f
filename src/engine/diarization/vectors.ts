/** A point of known weight: a voice, or the mean of several. */
export interface WeightedVector {
  vector: Float32Array;
  /** Voices it stands for, or their part. */
  weight: number;
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** The vector at unit length; zeros stay zeros. */
export function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  return length > 0 ? vector.map((value) => value / length) : vector.slice();
}

/** The weighted mean of points, with the sum of their weights. */
export function weightedMean(points: readonly WeightedVector[]): WeightedVector {
  const weight = points.reduce((total, point) => total + point.weight, 0);
  const vector = new Float32Array(points[0]?.vector.length ?? 0);
  for (const point of points) {
    const part = point.weight / weight;
    for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) + part * (point.vector[i] ?? 0);
  }
  return { vector, weight };
}
