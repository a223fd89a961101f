import LineBreaker from "linebreak";

/** Scripts written without spaces, whose words only a dictionary finds; UAX #14 calls them complex-context. */
const dictionaryRuns =
  /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}][\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{M}]+/gu;

/** Which dictionary a word gets depends on its script, not on this locale. */
const words = new Intl.Segmenter("th", { granularity: "word" });
const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/**
 * Where a line of a text may end (UAX #14, with dictionaries where the script needs one), as UTF-16 offsets in ascending
 * order; the last is the text's length. Spaces belong to the piece before them.
 */
function breakPoints(text: string): number[] {
  const points: number[] = [];
  const breaker = new LineBreaker(text);
  for (let point = breaker.nextBreak(); point; point = breaker.nextBreak()) points.push(point.position);
  const found = new Set(points);
  for (const run of text.matchAll(dictionaryRuns)) {
    for (const { index } of words.segment(run[0])) if (index > 0) found.add(run.index + index);
  }
  return found.size === points.length ? points : [...found].sort((a, b) => a - b);
}

/** The text cut at its break points; joined, the pieces are the text. */
export function breakablePieces(text: string): string[] {
  let from = 0;
  return breakPoints(text).map((to) => {
    const piece = text.slice(from, to);
    from = to;
    return piece;
  });
}

/** What a reader takes for characters. */
export function graphemesOf(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}
