import { SAMPLE_RATE, type Span, secondsOf, sharedSeconds, shifted } from "../../../../timeline/index.ts";
import { otherLanguage, type Probabilities } from "../../../other-language.ts";
import { findSilences } from "../../../silences.ts";
import type { TranscribeOptions, WhisperState, WhisperWord } from "../types.ts";
import { confidence, toSentences, type Utterance } from "./hallucinations.ts";
import { longestWordless } from "./missing-words.ts";

/** A part of a chunk with its spoken language. */
export interface LanguagePart extends Span {
  readonly language: string;
}

/** Cost of a language change (a natural logarithm), and lower limit of a probability, which bounds a part's cost. */
const CHANGE_COST = 3;
const MIN_PROBABILITY = 1e-3;
/**
 * Mean log probability below which a sentence may be a translation. Of nine clips that base translates, eight are
 * between -0.6 and -1.8. All of 95 sentences in ten languages, given the right language, are above -0.49.
 */
const MAX_TRANSLATION_CONFIDENCE = -0.5;
const MIN_GUESS_SECONDS = 1.5;
/**
 * Word probability below which a word may be a guess, placed in the time of omitted speech before it. Without such
 * words, one more of 140 chunks of the corpus has a span without words.
 */
const MIN_PLACED_PROBABILITY = 0.3;
/**
 * Probability of the chunk's language from which a doubtful span has one language only. 0.1 s of Spanish at its end
 * made English of 7 s fall from 0.98 to 0.79.
 */
const MIN_OWN_PROBABILITY = 0.2;

/**
 * Splits a chunk where its language changes. Whisper transcribes the language that it was given, and omits or
 * translates the rest. Language detection only runs on a chunk with a long span without words or with doubtful words.
 * @param utterances transcript of the samples in `language`
 * @returns parts in order and without gaps; none when no other language is sure
 */
export async function languageParts(
  state: Pick<WhisperState, "detectLanguage">,
  samples: Float32Array,
  utterances: readonly Utterance[],
  { language, threads, signal }: Pick<TranscribeOptions, "language" | "threads"> & { signal?: AbortSignal | undefined },
): Promise<LanguagePart[]> {
  const probabilitiesOf = new Map<Span, Probabilities>();
  const detect = async (part: Span): Promise<Probabilities> => {
    signal?.throwIfAborted();
    const first = Math.round(part.startSeconds * SAMPLE_RATE);
    const of = samples.subarray(first, Math.round(part.endSeconds * SAMPLE_RATE));
    const probabilities = probabilitiesOf.get(part) ?? (await state.detectLanguage(of, threads));
    probabilitiesOf.set(part, probabilities);
    return probabilities;
  };
  const doubtful = doubtfulSpan(samples, utterances);
  if (doubtful === null) return [];
  const parts = pauseParts(samples, [doubtful.startSeconds, doubtful.endSeconds]);
  const others = new Set<string>();
  const checkSpan = async (span: Span) => {
    const other = otherLanguage(await detect(span), language);
    if (other !== null) others.add(other);
  };
  await checkSpan(doubtful);
  const isOwn = ((await detect(doubtful))[language] ?? 0) >= MIN_OWN_PROBABILITY;
  if (others.size === 0 && !isOwn) {
    for (const part of parts) if (isMostlyIn(part, doubtful)) await checkSpan(part);
  }
  if (others.size === 0) return [];
  const probabilities: Probabilities[] = [];
  for (const part of parts) probabilities.push(await detect(part));
  const spoken = mostProbable(probabilities, [language, ...others]);
  const joined: LanguagePart[] = [];
  for (const [index, part] of parts.entries()) {
    const last = joined.at(-1);
    const partLanguage = spoken[index] ?? language;
    if (last?.language === partLanguage) joined[joined.length - 1] = { ...last, endSeconds: part.endSeconds };
    else joined.push({ ...part, language: partLanguage });
  }
  return joined.length === 1 && joined[0]?.language === language ? [] : joined;
}

function isMostlyIn(part: Span, span: Span): boolean {
  return sharedSeconds(part, span) > secondsOf(part) / 2;
}

/** Returns the span that may be in another language: a span without words, or the sentence with the lowest confidence. */
function doubtfulSpan(samples: Float32Array, utterances: readonly Utterance[]): Span | null {
  const words = utterances.flatMap((utterance) => utterance.words);
  // Whisper itself reports that nobody speaks.
  if (words.length === 0) return null;
  const placed = words.filter(({ probability }) => probability >= MIN_PLACED_PROBABILITY);
  const wordless = longestWordless(samples, words) ?? longestWordless(samples, placed);
  if (wordless !== null) return wordless;
  const end = samples.length / SAMPLE_RATE;
  const sentences = utterances.flatMap(toSentences).map((sentence) => sentence.words);
  const guessed = sentences.map((sentence, index) => ({
    confidence: secondsOf(extent(sentence)) < MIN_GUESS_SECONDS ? 0 : confidence(sentence),
    startSeconds: sentences[index - 1]?.at(-1)?.endSeconds ?? 0,
    endSeconds: sentences[index + 1]?.[0]?.startSeconds ?? end,
  }));
  const [most] = guessed.toSorted((a, b) => a.confidence - b.confidence);
  return most === undefined || most.confidence >= MAX_TRANSLATION_CONFIDENCE ? null : most;
}

function extent(words: readonly WhisperWord[]): Span {
  return { startSeconds: words[0]?.startSeconds ?? 0, endSeconds: words.at(-1)?.endSeconds ?? 0 };
}

/** Returns the most probable languages of consecutive parts (Viterbi), where each change of language has a cost. */
function mostProbable(all: readonly Probabilities[], languages: readonly string[]): string[] {
  let paths = languages.map((language) => ({ cost: 0, spoken: [] as string[], language }));
  for (const probabilities of all) {
    paths = languages.map((language) => {
      const from = paths.map((path) => ({ ...path, cost: path.cost + costOfChange(path.spoken.at(-1), language) }));
      const best = from.reduce((one, other) => (other.cost < one.cost ? other : one));
      const against = -Math.log(Math.max(MIN_PROBABILITY, probabilities[language] ?? 0));
      return { cost: best.cost + against, spoken: [...best.spoken, language], language };
    });
  }
  return paths.reduce((one, other) => (other.cost < one.cost ? other : one)).spoken;
}

function costOfChange(from: string | undefined, to: string): number {
  return from === undefined || from === to ? 0 : CHANGE_COST;
}

/** Minimum duration of a part; shorter ones say little about their language. */
const shortestSeconds = 2;

/**
 * Splits 16 kHz mono speech at its longest pauses into parts of at least 2 s, in order and without gaps.
 * @param instead possible cuts in seconds, used when noise hides all pauses
 */
export function pauseParts(samples: Float32Array, instead: readonly number[]): Span[] {
  const end = samples.length / SAMPLE_RATE;
  const silences = pausesOf(samples);
  const guesses = instead.map((at) => ({ startSeconds: at, endSeconds: at }));
  const pauses = (silences.length > 0 ? silences : guesses).filter(
    (pause) => pause.startSeconds > 0 && pause.endSeconds < end,
  );
  for (;;) {
    const parts = partsBetween(pauses, end);
    const short = parts.findIndex((part) => secondsOf(part) < shortestSeconds);
    if (short < 0 || pauses.length === 0) return parts;
    // Joins the part with the neighbour behind the shorter pause.
    const [before, after] = [pauses[short - 1], pauses[short]];
    const joinsNext = before === undefined || (after !== undefined && secondsOf(after) < secondsOf(before));
    pauses.splice(joinsNext ? short : short - 1, 1);
  }
}

/** Longest silence in a chunk. A longer one is speech that is far quieter than the rest, with pauses of its own. */
const MAX_SILENCE_SECONDS = 2;

function pausesOf(samples: Float32Array): Span[] {
  return findSilences(samples).flatMap((silence) => {
    if (secondsOf(silence) <= MAX_SILENCE_SECONDS) return [silence];
    const first = Math.round(silence.startSeconds * SAMPLE_RATE);
    const quiet = samples.subarray(first, Math.round(silence.endSeconds * SAMPLE_RATE));
    return findSilences(quiet).map((pause) => shifted(pause, first / SAMPLE_RATE));
  });
}

function partsBetween(pauses: readonly Span[], endSeconds: number): Span[] {
  const cuts = [0, ...pauses.map((pause) => (pause.startSeconds + pause.endSeconds) / 2), endSeconds];
  return cuts.slice(1).map((cut, index) => ({ startSeconds: cuts[index] ?? 0, endSeconds: cut }));
}
