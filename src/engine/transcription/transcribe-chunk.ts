import type { TranscribeOptions, WhisperState } from "../whisper/index.ts";
import { findSilences } from "../whisper/silences.ts";
import { type Attempt, bestOf, isDoubted, isIncomplete, weigh } from "./attempt.ts";
import { isAllInvented, withoutInvented } from "./invented.ts";
import type { Utterance } from "./sentences.ts";

/** What is known of a chunk besides its samples. */
export type ChunkOptions = Pick<TranscribeOptions, "language" | "threads" | "initialPrompt">;

const sampleRate = 16_000;

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
 * guessed nonetheless is left out. Throws an Error when it was aborted.
 */
export async function transcribeChunk(
  state: Pick<WhisperState, "transcribe">,
  samples: Float32Array,
  options: ChunkOptions,
): Promise<Utterance[]> {
  const read = async (part: Float32Array, way: Partial<TranscribeOptions>): Promise<Utterance[]> => {
    const { aborted, segments } = await state.transcribe(part, { ...options, ...way });
    if (aborted) throw new Error("the transcription was aborted");
    return segments;
  };
  const first = weigh(await read(samples, firstWay), samples);
  if (!isDoubted(first)) return withoutInvented(first.utterances);
  const second = weigh(await read(samples, secondWay), samples);
  if (isAllInvented(first.utterances) && (second.repeatedWords > 0 || isAllInvented(second.utterances))) return [];
  const attempts: [Attempt, ...Attempt[]] = [first, second];
  const pauseSeconds = isIncomplete(second) ? middlePause(samples) : null;
  if (pauseSeconds !== null) {
    const at = Math.round(pauseSeconds * sampleRate);
    const before = await read(samples.subarray(0, at), firstWay);
    const after = await read(samples.subarray(at), firstWay);
    attempts.push(weigh([...before, ...after.map((utterance) => later(utterance, at / sampleRate))], samples));
  }
  return withoutInvented(bestOf(attempts).utterances);
}

/** The middle of the pause that is nearest to the middle of the samples; null where none leaves long enough parts. */
function middlePause(samples: Float32Array): number | null {
  const seconds = samples.length / sampleRate;
  const distance = (at: number) => Math.abs(at - seconds / 2);
  const middles = findSilences(samples).map(({ startSeconds, endSeconds }) => (startSeconds + endSeconds) / 2);
  const [nearest] = middles.sort((a, b) => distance(a) - distance(b));
  return nearest === undefined || distance(nearest) > seconds / 2 - shortestPartSeconds ? null : nearest;
}

function later(utterance: Utterance, bySeconds: number): Utterance {
  const words = utterance.words.map((word) => ({
    ...word,
    startSeconds: word.startSeconds + bySeconds,
    endSeconds: word.endSeconds + bySeconds,
  }));
  return { ...utterance, words };
}
