/** Edits that turn the reference into the hypothesis. */
export interface ErrorCount {
  substitutions: number;
  deletions: number;
  insertions: number;
  /** Number of words or characters of the reference. */
  length: number;
}

/** Returns the error rate over several texts, as a fraction of the references' length: 0.05 is 5 %. */
export function errorRate(counts: readonly ErrorCount[]): number {
  const errors = counts.reduce((sum, count) => sum + count.substitutions + count.deletions + count.insertions, 0);
  return errors / counts.reduce((sum, count) => sum + count.length, 0);
}

/** Counts word errors of text in a language with spaces between words. */
export function wordErrors(reference: string, hypothesis: string): ErrorCount {
  return countErrors(plainWords(reference), plainWords(hypothesis));
}

/** Counts character errors, for languages without spaces between words. */
export function characterErrors(reference: string, hypothesis: string): ErrorCount {
  return countErrors([...plainWords(reference).join("")], [...plainWords(hypothesis).join("")]);
}

/** Returns words in lower case and NFKC form, with letters, digits and apostrophes only. */
export function plainWords(text: string): string[] {
  const plain = text.normalize("NFKC").toLowerCase().replace(/[’‘]/g, "'");
  return plain
    .replace(/[^\p{L}\p{M}\p{N}' ]/gu, " ")
    .split(/\s+/)
    .map(trimApostrophes)
    .filter((word) => word !== "");
}

function trimApostrophes(word: string): string {
  return word.replace(/^'+|'+$/g, "");
}

/** Counts the three kinds of errors in a Levenshtein alignment. */
export function countErrors(reference: readonly string[], hypothesis: readonly string[]): ErrorCount {
  let row: ErrorCount[] = hypothesis.map((_, j) => ({ substitutions: 0, deletions: 0, insertions: j + 1, length: 0 }));
  row.unshift({ substitutions: 0, deletions: 0, insertions: 0, length: 0 });
  for (const [i, expected] of reference.entries()) {
    const next: ErrorCount[] = [{ substitutions: 0, deletions: i + 1, insertions: 0, length: 0 }];
    for (const [j, actual] of hypothesis.entries()) {
      const [diagonal, above, left] = [row[j], row[j + 1], next[j]];
      if (diagonal === undefined || above === undefined || left === undefined) {
        throw new Error("the rows of the alignment differ in length");
      }
      const substituted = { ...diagonal, substitutions: diagonal.substitutions + (expected === actual ? 0 : 1) };
      const deleted = { ...above, deletions: above.deletions + 1 };
      const inserted = { ...left, insertions: left.insertions + 1 };
      next.push([substituted, deleted, inserted].reduce((best, one) => (total(one) < total(best) ? one : best)));
    }
    row = next;
  }
  return { ...(row.at(-1) ?? { substitutions: 0, deletions: 0, insertions: 0 }), length: reference.length };
}

function total(count: ErrorCount): number {
  return count.substitutions + count.deletions + count.insertions;
}
