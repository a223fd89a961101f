/** Result of comparing a text with its reference. */
interface TextErrors {
  /** Insertions, deletions and substitutions that turn the reference into the text. */
  readonly errors: number;
  /** Number of words or characters in the reference. */
  readonly length: number;
}

/**
 * Counts the word errors of a text, or its character errors in a language without spaces between words. Case,
 * punctuation and the form of apostrophes are no errors.
 */
export function countTextErrors(reference: string, text: string, unit: "words" | "characters"): TextErrors {
  const [expected, found] = [reference, text].map((each) => {
    const words = plainWords(each);
    return unit === "words" ? words : [...words.join("")];
  });
  return { errors: distance(expected ?? [], found ?? []), length: expected?.length ?? 0 };
}

/** Returns words in lower case and NFKC form, with letters, digits and apostrophes only. */
function plainWords(text: string): string[] {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[’‘]/g, "'")
    .replace(/[^\p{L}\p{M}\p{N}' ]/gu, " ")
    .split(/\s+/)
    .map((word) => word.replace(/^'+|'+$/g, ""))
    .filter((word) => word !== "");
}

/** Levenshtein distance, in memory for two rows. */
function distance(expected: readonly string[], found: readonly string[]): number {
  let above = Uint32Array.from({ length: found.length + 1 }, (_, column) => column);
  for (const [row, word] of expected.entries()) {
    const current = new Uint32Array(found.length + 1);
    current[0] = row + 1;
    for (let column = 1; column <= found.length; column++) {
      const changed = (above[column - 1] ?? 0) + (found[column - 1] === word ? 0 : 1);
      current[column] = Math.min(changed, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
    }
    above = current;
  }
  return above[found.length] ?? 0;
}
