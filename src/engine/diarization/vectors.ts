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
