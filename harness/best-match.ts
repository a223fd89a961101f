/** Returns the largest sum of entries that uses no row and no column twice, by exact search over subsets of columns. */
export function bestMatch(gains: readonly (readonly number[])[]): number {
  const wide = gains.length <= (gains[0]?.length ?? 0) ? gains : transposed(gains);
  // The subsets are of the smaller side: 2^8 for eight reference speakers, regardless of the number of detected ones.
  const rows = transposed(wide);
  const size = wide.length;
  if (size > 16) throw new RangeError(`${size} speakers on both sides are too many to match exhaustively`);
  let best = new Float64Array(1 << size).fill(Number.NEGATIVE_INFINITY);
  best[0] = 0;
  for (const row of rows) {
    const next = best.slice();
    for (let used = 0; used < best.length; used++) {
      for (let column = 0; column < size; column++) {
        if ((used & (1 << column)) !== 0) continue;
        const target = used | (1 << column);
        next[target] = Math.max(next[target] ?? 0, (best[used] ?? 0) + (row[column] ?? 0));
      }
    }
    best = next;
  }
  return best.reduce((most, value) => Math.max(most, value), 0);
}

function transposed(matrix: readonly (readonly number[])[]): number[][] {
  return (matrix[0] ?? []).map((_, column) => matrix.map((row) => row[column] ?? 0));
}
