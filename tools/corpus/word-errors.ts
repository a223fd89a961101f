import { countErrors } from "../../harness/wer.ts";
import type { Normalise } from "./scorer.ts";

/** Number of errors and of units: words, or characters in languages without spaces. */
export interface Rate {
  readonly errors: number;
  readonly length: number;
}

export function sum(rates: readonly Rate[]): Rate {
  return rates.reduce((all, { errors, length }) => ({ errors: all.errors + errors, length: all.length + length }), {
    errors: 0,
    length: 0,
  });
}

/** Returns whether errors of a language are counted in characters, because it has no spaces. */
export function isByCharacter(language: string): boolean {
  return ["zh", "ja", "ko"].includes(language);
}

/** Splits a text into normalized words, or into characters if its language has no spaces. */
export function unitsOf(normalise: Normalise, language: string, text: string): readonly string[] {
  const words = normalise(language, text);
  return isByCharacter(language) ? [...words.join("")] : words;
}

/** Counts all three kinds of errors. */
export function errorsBetween(reference: readonly string[], hypothesis: readonly string[]): Rate {
  const { substitutions, deletions, insertions, length } = countErrors(reference, hypothesis);
  return { errors: substitutions + deletions + insertions, length };
}

export function errorsIn(normalise: Normalise, language: string, reference: string, text: string): Rate {
  return errorsBetween(unitsOf(normalise, language, reference), unitsOf(normalise, language, text));
}
