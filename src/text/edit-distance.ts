/**
 * Computes the restricted Damerau-Levenshtein distance of two sequences of letters or words: the number of insertions,
 * deletions, substitutions and swaps of neighbours.
 */
export function editDistance(a: ArrayLike<string>, b: ArrayLike<string>): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row++) {
    const [above = [], twoAbove = []] = [rows[row - 1], rows[row - 2]];
    const distances = [row];
    for (let column = 1; column <= b.length; column++) {
      const changed = a[row - 1] === b[column - 1] ? 0 : 1;
      const exchanged = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      distances.push(
        Math.min(
          (above[column] ?? 0) + 1,
          (distances[column - 1] ?? 0) + 1,
          (above[column - 1] ?? 0) + changed,
          exchanged ? (twoAbove[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    rows.push(distances);
  }
  return rows[a.length]?.[b.length] ?? 0;
}
