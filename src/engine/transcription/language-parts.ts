import { otherLanguage, type Probabilities } from "../other-language.ts";
import type { Span } from "../protocol.ts";
import { SAMPLE_RATE } from "../sample-rate.ts";
import type { TranscribeOptions, WhisperState, WhisperWord } from "../whisper/index.ts";
import { pauseParts } from "./pause-parts.ts";
import { longestWordless } from "./unheard.ts";

/** A part of a chunk, and the language that is spoken in it. */
export interface LanguagePart extends Span {
  readonly language: string;
}

/** What a change of language costs, and the most that a part speaks for one: natural logarithms of probabilities. */
const changeCost = 3;
const leastProbability = 1e-3;

/**
 * Cuts a chunk where its language changes. Whisper writes what is in the language that it was told and leaves out the
 * rest, so that only a chunk with a long stretch without words is asked: in chunks of one language that costs next to nothing.
 * @param words what was written for the samples in `language`
 * @returns parts in order and without gaps; none where no other language is sure
 */
export async function languageParts(
  state: Pick<WhisperState, "detectLanguage">,
  samples: Float32Array,
  words: readonly WhisperWord[],
  { language, threads }: Pick<TranscribeOptions, "language" | "threads">,
): Promise<LanguagePart[]> {
  const ask = async ({ startSeconds, endSeconds }: Span): Promise<Probabilities> => {
    const part = samples.subarray(Math.round(startSeconds * SAMPLE_RATE), Math.round(endSeconds * SAMPLE_RATE));
    return (await state.detectLanguage(part, threads)).probabilities;
  };
  const wordless = longestWordless(samples, words);
  if (wordless === null) return [];
  const other = otherLanguage(await ask(wordless), language);
  if (other === null) return [];
  const parts = pauseParts(samples, [wordless.startSeconds, wordless.endSeconds]);
  const heard: Probabilities[] = [];
  for (const part of parts) heard.push(await ask(part));
  const spoken = mostProbable(heard, [language, other]);
  const joined: LanguagePart[] = [];
  for (const [index, part] of parts.entries()) {
    const last = joined.at(-1);
    const partLanguage = spoken[index] ?? language;
    if (last?.language === partLanguage) joined[joined.length - 1] = { ...last, endSeconds: part.endSeconds };
    else joined.push({ ...part, language: partLanguage });
  }
  return joined.length === 1 && joined[0]?.language === language ? [] : joined;
}

/** The languages that parts in a row are most probably in, where each change is a reason against it. */
function mostProbable(heard: readonly Probabilities[], languages: readonly string[]): string[] {
  let paths = languages.map((language) => ({ cost: 0, spoken: [] as string[], language }));
  for (const probabilities of heard) {
    paths = languages.map((language) => {
      const from = paths.map((path) => ({ ...path, cost: path.cost + costOfChange(path.spoken.at(-1), language) }));
      const best = from.reduce((one, other) => (other.cost < one.cost ? other : one));
      const against = -Math.log(Math.max(leastProbability, probabilities[language] ?? 0));
      return { cost: best.cost + against, spoken: [...best.spoken, language], language };
    });
  }
  return paths.reduce((one, other) => (other.cost < one.cost ? other : one)).spoken;
}

function costOfChange(from: string | undefined, to: string): number {
  return from === undefined || from === to ? 0 : changeCost;
}
