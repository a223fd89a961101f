/** Returns a generator of numbers from 0 to 1 that depend on the seed only (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a generator of normally distributed numbers that depend on the seed only (Box-Muller). */
export function normalNumbers(seed: number): (count: number, scale: number, mean?: number) => Float32Array {
  const uniform = randomNumbers(seed);
  return (count, scale, mean = 0) => {
    const values = new Float32Array(count);
    for (let i = 0; i < count; i += 2) {
      const radius = scale * Math.sqrt(-2 * Math.log(1 - uniform()));
      const angle = 2 * Math.PI * uniform();
      values[i] = mean + radius * Math.cos(angle);
      if (i + 1 < count) values[i + 1] = mean + radius * Math.sin(angle);
    }
    return values;
  };
}
