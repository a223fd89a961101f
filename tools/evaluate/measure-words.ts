import { bestMatch } from "../../harness/best-match.ts";
import { countErrors, type ErrorCount } from "../../harness/wer.ts";
import type { Reference } from "./corpus.ts";
import { type Hypothesis, textOf } from "./evaluation-server.ts";
import type { Normalise } from "./scorer.ts";

/** Number of errors and of units: words, or characters in languages without spaces. */
export interface Rate {
  readonly errors: number;
  readonly length: number;
}

/** Adds several rates. */
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

/** Counts errors over the whole text, regardless of the speaker. */
export function textErrors(normalise: Normalise, reference: Reference, text: string): Rate {
  const units = (one: string) => unitsOf(normalise, reference.language, one);
  const count = countErrors(units(reference.text ?? ""), units(text));
  return { errors: errorsOf(count), length: count.length };
}

/**
 * Counts word errors when each speaker's words are compared with the words of one label. Includes deletions of speakers
 * without a label and insertions of labels without a speaker. Uses the assignment with the fewest errors (cpWER, as
 * CHiME-6 defines it).
 */
export function speakerWordErrors(normalise: Normalise, reference: Reference, { segments }: Hypothesis): Rate {
  const units = (text: string) => unitsOf(normalise, reference.language, text);
  const real = [...joined(reference.spoken ?? []).values()].map(units);
  const found = [...joined(segments).values()].map(units);
  const length = real.reduce((sum, words) => sum + words.length, 0);
  const total = length + found.reduce((sum, words) => sum + words.length, 0);
  // Errors that an assignment saves compared with deleting all words of one and inserting all words of the other.
  const spared = real.map((words) =>
    found.map((others) => words.length + others.length - errorsOf(countErrors(words, others))),
  );
  return { errors: total - (spared.length === 0 ? 0 : bestMatch(spared)), length };
}

/** Returns the sum of all three kinds of errors. */
export function errorsOf({ substitutions, deletions, insertions }: ErrorCount): number {
  return substitutions + deletions + insertions;
}

/** Joins the text of each speaker, in order. */
function joined(turns: readonly { speaker: string; text: string }[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { speaker, text } of turns) texts.set(speaker, `${texts.get(speaker) ?? ""} ${text}`.trim());
  return texts;
}

/** Returns the reference text; speakers are joined one after another when they talk at the same time. */
export function referenceTextOf({ text, spoken }: Reference): string {
  return text ?? [...joined(spoken ?? []).values()].join(" ");
}

/** Returns every text that is compared for a recording, with its language. */
export function textsOf(reference: Reference, hypothesis: Hypothesis): (readonly [string, string])[] {
  const texts = [
    ...[referenceTextOf(reference), textOf(hypothesis)],
    ...joined(reference.spoken ?? []).values(),
    ...joined(hypothesis.segments).values(),
  ];
  return texts.map((text) => [reference.language, text] as const);
}

/**
 * Returns the length in words of the longest phrase that is recognized at least twice and more often than it was said;
 * 0 if there is none. Single words count only when they directly repeat.
 */
export function longestRepeat(said: readonly string[], heard: readonly string[]): number {
  for (let length = Math.floor(heard.length / 2); length > 1; length--) {
    const real = phraseCounts(said, length);
    for (const [phrase, count] of phraseCounts(heard, length)) {
      if (count > Math.max(1, real.get(phrase) ?? 0)) return length;
    }
  }
  return stutters(heard) > stutters(said) ? 1 : 0;
}

function phraseCounts(words: readonly string[], length: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let from = 0; from + length <= words.length; from++) {
    const phrase = words.slice(from, from + length).join(" ");
    counts.set(phrase, (counts.get(phrase) ?? 0) + 1);
  }
  return counts;
}

function stutters(words: readonly string[]): number {
  return words.filter((word, index) => word === words[index - 1]).length;
}
