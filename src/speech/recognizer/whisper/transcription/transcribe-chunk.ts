import { SAMPLE_RATE, shifted } from "../../../../timeline/index.ts";
import { findSilences } from "../../../silences.ts";
import type { ChunkOptions } from "../../recognizer.ts";
import { toPrompt } from "../prompt.ts";
import type { TranscribeOptions, WhisperState, WhisperWord } from "../types.ts";
import { type Attempt, bestOf, isIncomplete, needsSecondPass, weigh, weighParts } from "./attempt.ts";
import { areCredible, isHallucination, type Utterance, withoutHallucinations } from "./hallucinations.ts";
import { type LanguagePart, languageParts } from "./language-parts.ts";
import { longestWordless } from "./missing-words.ts";

type TranscribeChunkOptions = Pick<ChunkOptions, "language" | "threads"> & Partial<ChunkOptions>;

/**
 * Options of the first pass. Beams of 5 without timestamp tokens make the fewest errors on the built dialogues.
 * Whisper's own decoding at rising temperatures is off: there it writes well-known phrases where nobody speaks.
 */
const FIRST_PASS = { beamSize: 5, withoutTimestamps: true, suppressNonSpeech: true, temperatureIncrement: 0 } as const;
/** Options of the second pass. Timestamp tokens lead whisper past a sentence that it omitted, and out of loops. */
const SECOND_PASS = { ...FIRST_PASS, withoutTimestamps: false } as const;
/** Minimum duration of the parts when a chunk is transcribed in two parts. */
const MIN_PART_SECONDS = 2;

/**
 * Transcribes a chunk of 16 kHz mono speech. A doubtful result (repeated text, sound without words or guessed words) is
 * decoded again in other ways, and the result with the fewest defects is used, without hallucinated sentences. Where
 * the language changes, the parts before and after are transcribed separately. @throws {Error} when it was aborted
 */
export async function transcribeChunk(
  state: Pick<WhisperState, "transcribe" | "detectLanguage">,
  samples: Float32Array,
  options: TranscribeChunkOptions,
): Promise<Utterance[]> {
  const { language, threads, vocabulary = "", mayChangeLanguage = false, signal } = options;
  const initialPrompt = toPrompt(vocabulary);
  const read = async (part: Float32Array, pass: Partial<TranscribeOptions>): Promise<Utterance[]> => {
    signal?.throwIfAborted();
    const { aborted, segments } = await state.transcribe(part, { language, threads, initialPrompt, ...pass });
    if (aborted) throw new Error("the transcription was aborted");
    return segments;
  };
  const first = weigh(await read(samples, FIRST_PASS), samples);
  // Runs at once, because the state still has the encoded window of the first pass.
  const second = needsSecondPass(first) ? weigh(await read(samples, SECOND_PASS), samples) : null;
  const parts = mayChangeLanguage ? await languageParts(state, samples, first.utterances, options) : [];
  const byLanguage = await transcribeEach(state, samples, parts, options);
  if (byLanguage.length > 0 && bestOf([first, weigh(byLanguage, samples)]).utterances === byLanguage) return byLanguage;
  if (second === null) return withoutHallucinations(first.utterances);
  if (isHallucination(first.utterances) && (second.repeatedWords > 0 || isHallucination(second.utterances))) return [];
  const attempts: [Attempt, ...Attempt[]] = [first, second];
  if (isIncomplete(second)) {
    const inParts = await transcribeInParts(samples, bestOf(attempts), (part) => read(part, FIRST_PASS));
    if (inParts !== null) attempts.push(inParts);
  }
  return withoutHallucinations(bestOf(attempts).utterances);
}

/** Transcribes the parts of a chunk, each in its language and as a chunk of its own. */
async function transcribeEach(
  state: Pick<WhisperState, "transcribe" | "detectLanguage">,
  samples: Float32Array,
  parts: readonly LanguagePart[],
  options: TranscribeChunkOptions,
): Promise<Utterance[]> {
  const utterances: Utterance[] = [];
  for (const { startSeconds, endSeconds, language } of parts) {
    const first = Math.round(startSeconds * SAMPLE_RATE);
    const part = samples.subarray(first, Math.round(endSeconds * SAMPLE_RATE));
    // Recursion ends because parts get shorter. A chunk that is entirely in another language is not split again.
    const read = await transcribeChunk(state, part, { ...options, language, mayChangeLanguage: parts.length > 1 });
    utterances.push(...read.map((utterance) => later({ language, ...utterance }, first / SAMPLE_RATE)));
  }
  return utterances;
}

/**
 * Transcribes a chunk in parts: a span without words alone, because whisper does not recognize it next to much louder
 * speech, or else the parts before and after a pause near the middle. @returns null when there is no believable part
 */
async function transcribeInParts(
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
    if (!areCredible(found.flatMap((utterance) => utterance.words))) return null;
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

/** Returns the middle of the pause nearest to the middle of the samples; null when none leaves long enough parts. */
function middlePause(samples: Float32Array): number | null {
  const seconds = samples.length / SAMPLE_RATE;
  const distance = (at: number) => Math.abs(at - seconds / 2);
  const middles = findSilences(samples).map(({ startSeconds, endSeconds }) => (startSeconds + endSeconds) / 2);
  const [nearest] = middles.sort((a, b) => distance(a) - distance(b));
  return nearest === undefined || distance(nearest) > seconds / 2 - MIN_PART_SECONDS ? null : nearest;
}

function later(utterance: Utterance, bySeconds: number): Utterance {
  return { ...utterance, words: utterance.words.map((word) => shifted(word, bySeconds)) };
}
