import { bestMatch } from "../../harness/best-match.ts";
import { errorsBetween, errorsIn, type Normalise, type Rate, type Reference, unitsOf } from "../corpus/index.ts";
import { total } from "../shared/figures.ts";
import { type Hypothesis, textOf } from "./server.ts";

/** Counts errors over the whole text, regardless of the speaker. */
export function textErrors(normalise: Normalise, { language, text }: Reference, transcript: string): Rate {
  return errorsIn(normalise, language, text ?? "", transcript);
}

/**
 * Counts word errors when each speaker's words are compared with the words of one label. Includes deletions of speakers
 * without a label and insertions of labels without a speaker. Uses the assignment with the fewest errors (cpWER, as
 * CHiME-6 defines it).
 */
export function speakerWordErrors(normalise: Normalise, reference: Reference, { segments }: Hypothesis): Rate {
  const units = (text: string) => unitsOf(normalise, reference.language, text);
  const real = joined(reference.spoken ?? []).map(units);
  const found = joined(segments).map(units);
  const length = total(real, (words) => words.length);
  const all = length + total(found, (words) => words.length);
  // Errors that an assignment saves compared with deleting all words of one and inserting all words of the other.
  const spared = real.map((words) =>
    found.map((others) => words.length + others.length - errorsBetween(words, others).errors),
  );
  return { errors: all - (spared.length === 0 ? 0 : bestMatch(spared)), length };
}

/** Joins the text of each speaker, in order. */
function joined(turns: readonly { readonly speaker: string; readonly text: string }[]): string[] {
  const bySpeaker = Map.groupBy(turns, ({ speaker }) => speaker);
  return [...bySpeaker.values()].map((own) => own.map(({ text }) => text).join(" "));
}

/** Returns the reference text; speakers are joined one after another when they talk at the same time. */
export function referenceTextOf({ text, spoken }: Reference): string {
  return text ?? joined(spoken ?? []).join(" ");
}

/** Returns every text that is compared for a recording, with its language. */
export function textsOf(reference: Reference, hypothesis: Hypothesis): (readonly [string, string])[] {
  const texts = [
    ...[referenceTextOf(reference), textOf(hypothesis)],
    ...joined(reference.spoken ?? []),
    ...joined(hypothesis.segments),
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
