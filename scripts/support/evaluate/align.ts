/** Costs of another word, and of one left out or put in: of ways of the same length, the one with most matches is least. */
const changed = 4;
const leftOut = 3;

/**
 * Pairs of words that stand in for each other in the shortest way from the one text to the other, equal or not, as
 * places in both; words that were left out or put in are in no pair.
 */
export function alignWords(said: readonly string[], heard: readonly string[]): (readonly [number, number])[] {
  const width = heard.length + 1;
  const costs = new Uint32Array((said.length + 1) * width);
  const costAt = (row: number, column: number) => costs[row * width + column] ?? 0;
  const change = (row: number, column: number) => (said[row - 1] === heard[column - 1] ? 0 : changed);
  for (let row = 0; row <= said.length; row++) {
    for (let column = 0; column < width; column++) {
      const ways = [
        ...(row > 0 && column > 0 ? [costAt(row - 1, column - 1) + change(row, column)] : []),
        ...(row > 0 ? [costAt(row - 1, column) + leftOut] : []),
        ...(column > 0 ? [costAt(row, column - 1) + leftOut] : []),
      ];
      costs[row * width + column] = ways.length === 0 ? 0 : Math.min(...ways);
    }
  }
  const pairs: (readonly [number, number])[] = [];
  let [row, column] = [said.length, heard.length];
  while (row > 0 && column > 0) {
    const cost = costAt(row, column);
    if (cost === costAt(row - 1, column - 1) + change(row, column)) pairs.push([--row, --column]);
    else if (cost === costAt(row - 1, column) + leftOut) row--;
    else column--;
  }
  return pairs.reverse();
}
