/**
 * Costs of a substitution, and of a deletion or insertion. Of alignments with equally many errors, the one with most
 * matches is cheapest.
 */
const CHANGED = 4;
const LEFT_OUT = 3;

/**
 * Returns the index pairs of matched or substituted words in the cheapest alignment of two texts. Deleted and inserted
 * words are in no pair. Of equally cheap alignments, it returns the one with pairs as late as possible.
 */
export function alignWords(said: readonly string[], heard: readonly string[]): (readonly [number, number])[] {
  const width = heard.length + 1;
  const costs = new Uint32Array((said.length + 1) * width);
  const costAt = (row: number, column: number) => costs[row * width + column] ?? 0;
  const change = (row: number, column: number) => (said[row - 1] === heard[column - 1] ? 0 : CHANGED);
  for (let column = 0; column < width; column++) costs[column] = column * LEFT_OUT;
  for (let row = 1; row <= said.length; row++) {
    costs[row * width] = row * LEFT_OUT;
    for (let column = 1; column < width; column++) {
      const paired = costAt(row - 1, column - 1) + change(row, column);
      const leftOut = Math.min(costAt(row - 1, column), costAt(row, column - 1)) + LEFT_OUT;
      costs[row * width + column] = Math.min(paired, leftOut);
    }
  }
  const pairs: (readonly [number, number])[] = [];
  let [row, column] = [said.length, heard.length];
  while (row > 0 && column > 0) {
    const cost = costAt(row, column);
    if (cost === costAt(row - 1, column - 1) + change(row, column)) pairs.push([--row, --column]);
    else if (cost === costAt(row - 1, column) + LEFT_OUT) row--;
    else column--;
  }
  return pairs.reverse();
}

/** Like `alignWords`, with pairs as early as possible: of two equal words of the first text, the first one is paired. */
export function alignEarly(said: readonly string[], heard: readonly string[]): (readonly [number, number])[] {
  const fromEnd = alignWords(said.toReversed(), heard.toReversed());
  return fromEnd.map(([row, column]) => [said.length - 1 - row, heard.length - 1 - column] as const).reverse();
}
