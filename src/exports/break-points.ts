import LineBreaker from "linebreak";

/**
 * Runs of scripts that are written without spaces, where only a dictionary finds the words. UAX #14 calls these scripts
 * complex-context.
 */
const dictionaryRuns =
  /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}][\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{M}]+/gu;

/** The segmenter selects the dictionary by the word's script, not by this locale. */
const words = new Intl.Segmenter("th", { granularity: "word" });
const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/**
 * Returns the positions where a line may break (UAX #14, with dictionaries where the script needs one), as UTF-16
 * offsets in ascending order. The last one is the text's length. Spaces belong to the fragment before them.
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

/** Splits a text at its break points. The fragments joined are the text. */
export function breakableFragments(text: string): string[] {
  let from = 0;
  return breakPoints(text).map((to) => {
    const fragment = text.slice(from, to);
    from = to;
    return fragment;
  });
}

/** Splits a text into graphemes, the characters that a reader perceives. */
export function graphemesOf(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}
