import { bestMatch } from "../../../test/support/best-match.ts";
import { countErrors, type ErrorCount } from "../../../test/support/wer.ts";
import type { Reference } from "./corpus.ts";
import { type Hypothesis, textOf } from "./hypotheses.ts";
import type { Normalise } from "./scorer.ts";

/** Errors and what they are counted in: words, or characters where a language has no spaces. */
export interface Rate {
  readonly errors: number;
  readonly length: number;
}

/** Several rates as one. */
export function sum(rates: readonly Rate[]): Rate {
  return rates.reduce((all, { errors, length }) => ({ errors: all.errors + errors, length: all.length + length }), {
    errors: 0,
    length: 0,
  });
}

/** Languages that write no spaces: their errors are counted in characters. */
export function isByCharacter(language: string): boolean {
  return ["zh", "ja", "ko"].includes(language);
}

/** Words of a text, or its characters where its language has no spaces, as they are compared. */
export function unitsOf(normalise: Normalise, language: string, text: string): readonly string[] {
  const words = normalise(language, text);
  return isByCharacter(language) ? [...words.join("")] : words;
}

/** Errors over all that was said, whoever said it. */
export function textErrors(normalise: Normalise, reference: Reference, text: string): Rate {
  const units = (one: string) => unitsOf(normalise, reference.language, one);
  const count = countErrors(units(reference.text ?? ""), units(text));
  return { errors: errorsOf(count), length: count.length };
}

/**
 * Words in error when each speaker's words are held against those of one label: deletions of speakers without a label
 * and insertions of labels without a speaker included, under the matching with the fewest errors (cpWER, as CHiME-6
 * defines it).
 */
export function speakerWordErrors(normalise: Normalise, reference: Reference, { segments }: Hypothesis): Rate {
  const units = (text: string) => unitsOf(normalise, reference.language, text);
  const real = [...joined(reference.spoken ?? []).values()].map(units);
  const found = [...joined(segments).values()].map(units);
  const length = real.reduce((sum, words) => sum + words.length, 0);
  const total = length + found.reduce((sum, words) => sum + words.length, 0);
  // What a pair spares, against the one's words all lost and the other's all invented.
  const spared = real.map((words) =>
    found.map((others) => words.length + others.length - errorsOf(countErrors(words, others))),
  );
  return { errors: total - (spared.length === 0 ? 0 : bestMatch(spared)), length };
}

/** Errors of all three kinds. */
export function errorsOf({ substitutions, deletions, insertions }: ErrorCount): number {
  return substitutions + deletions + insertions;
}

/** What each speaker said, in order. */
function joined(turns: readonly { speaker: string; text: string }[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { speaker, text } of turns) texts.set(speaker, `${texts.get(speaker) ?? ""} ${text}`.trim());
  return texts;
}

/** What was said, by the speakers one after another where they speak at once. */
export function saidIn({ text, spoken }: Reference): string {
  return text ?? [...joined(spoken ?? []).values()].join(" ");
}

/** Every text that measuring a recording's words compares, with its language. */
export function textsOf(reference: Reference, hypothesis: Hypothesis): (readonly [string, string])[] {
  const texts = [
    ...[saidIn(reference), textOf(hypothesis)],
    ...joined(reference.spoken ?? []).values(),
    ...joined(hypothesis.segments).values(),
  ];
  return texts.map((text) => [reference.language, text] as const);
}

/**
 * The longest phrase that is heard at least twice, and more often than it was said, in words; 0 where there is none. Of
 * single words only those are counted that follow themselves.
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
