import type { NativeState, NativeTranscribeOptions } from "./addon.ts";
import { toSegments } from "./segments.ts";
import type { LanguageDetection, TranscribeOptions, WhisperResult, WhisperState } from "./types.ts";

/** Whisper's encoder sees 30 s at 16 kHz as 1500 positions of 320 samples. */
const samplesPerPosition = 320;
const encoderPositions = 1500;

/** whisper.cpp gives no text for less than 0.1 s. */
const shortestSamples = 1600;

/** Wraps native working memory: checks what comes in, fills in defaults, and makes words of the tokens. */
export function createState(parts: { native: NativeState; languages: string[]; wordTimes: boolean }): WhisperState {
  const { native, languages, wordTimes } = parts;
  return {
    encode: (samples, threads) => native.encode(samples, checkThreads(threads)),
    detectLanguage: async (samples, threads) => {
      if (samples.length === 0) {
        throw new RangeError("there are no samples to detect a language in");
      }
      return mostProbable(await native.detectLanguage(samples, checkThreads(threads)));
    },
    transcribe: async (samples, options): Promise<WhisperResult> => {
      const nativeOptions = toNativeOptions(samples, options, { languages, wordTimes });
      if (samples.length < shortestSamples) {
        return { language: options.language, aborted: false, segments: [] };
      }
      const transcript = await native.transcribe(samples, nativeOptions);
      return {
        language: transcript.language,
        aborted: transcript.aborted,
        segments: toSegments(transcript, samples),
      };
    },
    abort: () => native.abort(),
    dispose: () => native.dispose(),
  };
}

function toNativeOptions(
  samples: Float32Array,
  options: TranscribeOptions,
  model: { languages: string[]; wordTimes: boolean },
): NativeTranscribeOptions {
  if (!model.languages.includes(options.language)) {
    throw new RangeError(`the model does not know the language "${options.language}"`);
  }
  const beamSize = options.beamSize ?? 5;
  // whisper.cpp has room for eight decoders
  if (!Number.isInteger(beamSize) || beamSize < 1 || beamSize > 8) {
    throw new RangeError(`the beam size must be a whole number from 1 to 8, not ${beamSize}`);
  }
  return {
    language: options.language,
    initialPrompt: options.initialPrompt ?? "",
    threads: checkThreads(options.threads),
    beamSize,
    audioContext: toAudioContext(samples, options.audioContext),
    temperatureIncrement: options.temperatureIncrement ?? 0.2,
    ...whisperThresholds,
    withoutTimestamps: options.withoutTimestamps ?? false,
    suppressNonSpeech: options.suppressNonSpeech ?? false,
    guessTokenTimes: !model.wordTimes,
  };
}

/**
 * The defaults of whisper.cpp: token entropy and mean log probability under which a result is decoded again, and the
 * probability of no speech from which a doubted one has no text.
 */
const whisperThresholds = { entropyThreshold: 2.4, logProbThreshold: -1, noSpeechThreshold: 0.6 } as const;

function checkThreads(threads: number): number {
  if (!Number.isInteger(threads) || threads < 1) {
    throw new RangeError(`the number of threads must be a whole number from 1, not ${threads}`);
  }
  return threads;
}

/**
 * Under flash attention whisper.cpp reads keys up to the next multiple of 256, and what lies there is left over from
 * earlier calls; so the context is rounded up to one.
 */
const contextStep = 256;

function toAudioContext(samples: Float32Array, audioContext: number | undefined): number {
  if (audioContext === undefined) {
    return 0;
  }
  // a position more than the samples fill: the spectrum has a frame that reaches over their end
  const needed = Math.min(encoderPositions, Math.ceil(samples.length / samplesPerPosition) + 1);
  if (!Number.isInteger(audioContext) || audioContext < needed || audioContext > encoderPositions) {
    throw new RangeError(
      `the audio context must be a whole number from ${needed}, which covers the samples, to ${encoderPositions}`,
    );
  }
  return Math.min(encoderPositions, Math.ceil(audioContext / contextStep) * contextStep);
}

function mostProbable(probabilities: Record<string, number>): LanguageDetection {
  const entries = Object.entries(probabilities);
  const sum = entries.reduce((total, [, probability]) => total + probability, 0);
  const normalised = entries.map(([code, probability]) => [code, probability / sum] as const);
  const [language, probability] = normalised.reduce((best, entry) => (entry[1] > best[1] ? entry : best));
  return { language, probability, probabilities: Object.fromEntries(normalised) };
}
