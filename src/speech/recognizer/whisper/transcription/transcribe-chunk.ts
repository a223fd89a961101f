import { SAMPLE_RATE, shifted } from "../../../../timeline/index.ts";
import { findSilences } from "../silences.ts";
import type { TranscribeOptions, WhisperState, WhisperWord } from "../types.ts";
import { type Attempt, bestOf, isDoubted, isIncomplete, weigh, weighParts } from "./attempt.ts";
import { areBelieved, isAllInvented, withoutInvented } from "./invented.ts";
import { type LanguagePart, languageParts } from "./language-parts.ts";
import type { Utterance } from "./sentences.ts";
import { longestWordless } from "./unheard.ts";

/** What is known of a chunk besides its samples. */
export interface ChunkOptions extends Pick<TranscribeOptions, "language" | "threads" | "initialPrompt"> {
  /** Whether parts of it may be in another language. Default false. */
  readonly mayChangeLanguage?: boolean | undefined;
  /** The state stops what it does when it is told, and knows nothing of it afterwards. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * How whisper listens first: beams of 5 without timestamp tokens make the fewest errors on the built dialogues. Its own
 * way of decoding again at rising temperatures stays off: there it writes well-known phrases where nobody speaks.
 */
const firstWay = { beamSize: 5, withoutTimestamps: true, suppressNonSpeech: true, temperatureIncrement: 0 } as const;
/** Timestamp tokens lead whisper on past a sentence that it left out, and out of loops. */
const secondWay = { ...firstWay, withoutTimestamps: false } as const;
/** Parts of a chunk that are listened to apart are no shorter. */
const shortestPartSeconds = 2;

/**
 * Reads the words of a chunk of 16 kHz mono speech. What there is reason to doubt is decoded in other ways, and the one
 * with the least against it is taken: text that repeats itself, sound without words, words that are guessed. What is
 * guessed nonetheless is left out. Where the language changes, what is before and after is read apart. Throws an Error
 * when it was aborted.
 */
export async function transcribeChunk(
  state: Pick<WhisperState, "transcribe" | "detectLanguage">,
  samples: Float32Array,
  { mayChangeLanguage = false, signal, ...options }: ChunkOptions,
): Promise<Utterance[]> {
  const read = async (part: Float32Array, way: Partial<TranscribeOptions>): Promise<Utterance[]> => {
    signal?.throwIfAborted();
    const { aborted, segments } = await state.transcribe(part, { ...options, ...way });
    if (aborted) throw new Error("the transcription was aborted");
    return segments;
  };
  const first = weigh(await read(samples, firstWay), samples);
  // At once, as long as the state has the window that it encoded for the first.
  const second = isDoubted(first) ? weigh(await read(samples, secondWay), samples) : null;
  const parts = mayChangeLanguage ? await languageParts(state, samples, first.utterances, { ...options, signal }) : [];
  const apart = await readEach(state, samples, parts, { ...options, signal });
  if (apart.length > 0 && bestOf([first, weigh(apart, samples)]).utterances === apart) return apart;
  if (second === null) return withoutInvented(first.utterances);
  if (isAllInvented(first.utterances) && (second.repeatedWords > 0 || isAllInvented(second.utterances))) return [];
  const attempts: [Attempt, ...Attempt[]] = [first, second];
  if (isIncomplete(second)) {
    const inParts = await readInParts(samples, bestOf(attempts), (part) => read(part, firstWay));
    if (inParts !== null) attempts.push(inParts);
  }
  return withoutInvented(bestOf(attempts).utterances);
}

/** Reads the parts of a chunk, each in its language and as a chunk of its own. */
async function readEach(
  state: Pick<WhisperState, "transcribe" | "detectLanguage">,
  samples: Float32Array,
  parts: readonly LanguagePart[],
  options: ChunkOptions,
): Promise<Utterance[]> {
  const utterances: Utterance[] = [];
  for (const { startSeconds, endSeconds, language } of parts) {
    const first = Math.round(startSeconds * SAMPLE_RATE);
    const part = samples.subarray(first, Math.round(endSeconds * SAMPLE_RATE));
    // Parts get shorter, so that this ends; a chunk that is all in another language is not asked once more.
    const read = await transcribeChunk(state, part, { ...options, language, mayChangeLanguage: parts.length > 1 });
    utterances.push(...read.map((utterance) => later({ language, ...utterance }, first / SAMPLE_RATE)));
  }
  return utterances;
}

/**
 * Reads a chunk part by part: what has no words alone, since whisper does not hear it beside what is much louder; or what
 * comes before and after a pause in the middle. Null where there is no such part, or nobody is heard in
 * it for sure.
 */
async function readInParts(
  samples: Float32Array,
  { utterances }: Attempt,
  read: (part: Float32Array) => Promise<Utterance[]>,
): Promise<Attempt | null> {
  const readFrom = async (startSeconds: number, endSeconds: number) => {
    const first = Math.round(startSeconds * SAMPLE_RATE);
    const found = await read(samples.subarray(first, Math.round(endSeconds * SAMPLE_RATE)));
    return found.map((utterance) => later(utterance, first / SAMPLE_RATE));
  };
  const words = utterances.flatMap((utterance) => utterance.words);
  const wordless = longestWordless(samples, words);
  if (wordless !== null) {
    const found = await readFrom(wordless.startSeconds, wordless.endSeconds);
    if (!areBelieved(found.flatMap((utterance) => utterance.words))) return null;
    const { endSeconds } = wordless;
    return weigh([...before(utterances, endSeconds), ...found, ...from(utterances, endSeconds)], samples);
  }
  const pause = middlePause(samples);
  if (pause === null) return null;
  return weighParts([await readFrom(0, pause), await readFrom(pause, samples.length / SAMPLE_RATE)], samples);
}

function before(utterances: readonly Utterance[], seconds: number): Utterance[] {
  return filterWords(utterances, (word) => word.startSeconds < seconds);
}

function from(utterances: readonly Utterance[], seconds: number): Utterance[] {
  return filterWords(utterances, (word) => word.startSeconds >= seconds);
}

function filterWords(utterances: readonly Utterance[], keep: (word: WhisperWord) => boolean): Utterance[] {
  return utterances.map((utterance) => ({ ...utterance, words: utterance.words.filter(keep) }));
}

/** The middle of the pause that is nearest to the middle of the samples; null where none leaves long enough parts. */
function middlePause(samples: Float32Array): number | null {
  const seconds = samples.length / SAMPLE_RATE;
  const distance = (at: number) => Math.abs(at - seconds / 2);
  const middles = findSilences(samples).map(({ startSeconds, endSeconds }) => (startSeconds + endSeconds) / 2);
  const [nearest] = middles.sort((a, b) => distance(a) - distance(b));
  return nearest === undefined || distance(nearest) > seconds / 2 - shortestPartSeconds ? null : nearest;
}

function later(utterance: Utterance, bySeconds: number): Utterance {
  return { ...utterance, words: utterance.words.map((word) => shifted(word, bySeconds)) };
}
