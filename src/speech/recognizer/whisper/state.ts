import { checkThreads } from "../native-calls.ts";
import type { NativeState, NativeTranscribeOptions, NativeTranscript } from "./addon.ts";
import type { TranscribeOptions, WhisperResult, WhisperSegment, WhisperState, WhisperWord } from "./types.ts";
import { wordTimes } from "./word-times.ts";
import { groupWords, isPunctuation, type WordPieces } from "./words.ts";

/** Encoder constants: 30 s at 16 kHz are 1500 positions of 320 samples. */
const samplesPerPosition = 320;
const encoderPositions = 1500;

/** Minimum number of samples; whisper.cpp returns no text for less than 0.1 s. */
const shortestSamples = 1600;

/** Wraps a native state: checks arguments, fills in defaults and converts tokens to words. */
export function createState(native: NativeState, languages: readonly string[]): WhisperState {
  return {
    encode: (samples, threads) => native.encode(samples, checkThreads(threads)),
    detectLanguage: async (samples, threads) => {
      if (samples.length === 0) {
        throw new RangeError("there are no samples to detect a language in");
      }
      return normalised(await native.detectLanguage(samples, checkThreads(threads)));
    },
    transcribe: async (samples, options): Promise<WhisperResult> => {
      const nativeOptions = toNativeOptions(samples, options, languages);
      if (samples.length < shortestSamples) {
        return { aborted: false, segments: [] };
      }
      const transcript = await native.transcribe(samples, nativeOptions);
      const written = options.translate === true ? "en" : transcript.language;
      return { aborted: transcript.aborted, segments: toSegments(transcript, written, samples) };
    },
    abort: () => native.abort(),
    dispose: () => native.dispose(),
  };
}

function toNativeOptions(
  samples: Float32Array,
  options: TranscribeOptions,
  languages: readonly string[],
): NativeTranscribeOptions {
  if (!languages.includes(options.language)) {
    throw new RangeError(`the model does not know the language "${options.language}"`);
  }
  const beamSize = options.beamSize ?? 5;
  // whisper.cpp supports at most eight decoders.
  if (!Number.isInteger(beamSize) || beamSize < 1 || beamSize > 8) {
    throw new RangeError(`the beam size must be a whole number from 1 to 8, not ${beamSize}`);
  }
  if (options.prefix && !options.withoutTimestamps) throw new RangeError("a prefix needs a text without timestamps");
  return {
    language: options.language,
    initialPrompt: options.initialPrompt ?? "",
    prefix: options.prefix ?? "",
    maxTokens: options.maxTokens ?? 0,
    threads: checkThreads(options.threads),
    beamSize,
    audioContext: toAudioContext(samples, options.audioContext),
    temperatureIncrement: options.temperatureIncrement ?? 0.2,
    ...whisperThresholds,
    withoutTimestamps: options.withoutTimestamps ?? false,
    suppressNonSpeech: options.suppressNonSpeech ?? false,
    translate: options.translate ?? false,
  };
}

/** whisper.cpp's defaults. A result below the first two is decoded again, and dropped above the third. */
const whisperThresholds = { entropyThreshold: 2.4, logProbThreshold: -1, noSpeechThreshold: 0.6 } as const;

function toAudioContext(samples: Float32Array, audioContext: number | undefined): number {
  if (audioContext === undefined) {
    return 0;
  }
  // One more position than the samples fill: the spectrum has a frame that extends over their end.
  const needed = Math.min(encoderPositions, Math.ceil(samples.length / samplesPerPosition) + 1);
  if (!Number.isInteger(audioContext) || audioContext < needed || audioContext > encoderPositions) {
    throw new RangeError(
      `the audio context must be a whole number from ${needed}, which covers the samples, to ${encoderPositions}`,
    );
  }
  return audioContext;
}

/** Scales the probabilities so that they sum up to 1. */
function normalised(probabilities: Record<string, number>): Record<string, number> {
  const entries = Object.entries(probabilities);
  const sum = entries.reduce((total, [, probability]) => total + probability, 0);
  return Object.fromEntries(entries.map(([code, probability]) => [code, probability / sum]));
}

/**
 * Converts the native transcript to segments with timed words; segments without text are left out.
 * @param language the language of the text
 */
function toSegments(transcript: NativeTranscript, language: string, samples: Float32Array): WhisperSegment[] {
  const grouped = transcript.segments
    .map((segment) => ({ segment, words: groupWords(segment.pieces, language) }))
    .filter(({ words }) => words.length > 0);
  const spans = wordTimes(
    grouped.flatMap(({ segment, words }) => words.map((word) => ({ pieces: word.pieces, segment }))),
    samples,
  );
  let next = 0;
  return grouped.map(({ segment: { noSpeechProbability, averageLogProbability }, words: untimed }) => {
    const words = untimed.flatMap((word) => toWord(word, spans[next++]) ?? []);
    const text = words.map((word) => word.text).join("");
    return { text, noSpeechProbability, averageLogProbability, words };
  });
}

/** Returns the part of a word after the prefix; null if there is none, or only punctuation. */
function toWord({ pieces }: WordPieces, span = { startSeconds: 0, endSeconds: 0 }): WhisperWord | null {
  const own = pieces.filter(({ isGiven }) => !isGiven);
  const text = own.map((piece) => piece.text).join("");
  if (own.length < pieces.length && isPunctuation(text)) return null;
  const probability = own.reduce((sum, piece) => sum + piece.probability, 0) / own.length;
  return { text, ...span, probability };
}
