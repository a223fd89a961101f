import type { Normalise, Reference } from "../corpus/index.ts";
import { total } from "../shared/figures.ts";

/** Names and terms that occur in the corpus, by language: a plausible prompt for any of these recordings. */
export const namesByLanguage: Readonly<Record<string, readonly string[]>> = {
  en: [
    ...["Zau al-Makan", "Nuzhat al-Zaman", "Allah", "Zarathustra", "Helstone", "Mister Hale", "Mister Thornton"],
    ...["Margaret", "Polly", "Puttel", "Mister Fish", "apomorphine", "distichs", "the kine", "Sintra", "Lord Byron"],
    ...["Northern Marianas", "Mr. Quilter"],
  ],
  de: ["Kowloon", "Hongkong", "T-Rex", "Das Vermächtnis der Tempelritter", "Mekka"],
  es: ["Carpanedo", "San Pedro"],
  fr: ["Giancarlo Fisichella", "Mashhad", "USOC"],
};

/** Returns the prompt for a recording; null if no name was said. */
export function promptFor(normalise: Normalise, { language, text }: Reference): string | null {
  const names = namesByLanguage[language] ?? [];
  const words = normalise(language, text ?? "");
  return names.some((name) => occurrences(words, normalise(language, name)) > 0) ? names.join(", ") : null;
}

export function countNames(normalise: Normalise, { language, text }: Reference, transcript: string) {
  const words = { said: normalise(language, text ?? ""), found: normalise(language, transcript) };
  const counts = (namesByLanguage[language] ?? []).map((name) => {
    const parts = normalise(language, name);
    return { said: occurrences(words.said, parts), found: occurrences(words.found, parts) };
  });
  return {
    said: total(counts, ({ said }) => said),
    /** Occurrences in the transcript, at most as many as were said, name by name. */
    found: total(counts, ({ said, found }) => Math.min(said, found)),
    /** Occurrences in the transcript beyond those. */
    invented: total(counts, ({ said, found }) => Math.max(0, found - said)),
  };
}

export type NameCount = ReturnType<typeof countNames>;

function occurrences(words: readonly string[], parts: readonly string[]): number {
  return words.filter((_, at) => parts.every((part, index) => words[at + index] === part)).length;
}
