import type { ChunkOptions, RecognizedWords, Recognizer, RecognizerFamily, SinglePassOptions } from "../recognizer.ts";
import { compareEncoders } from "./encoder/compare-encoders.ts";
import { openModel } from "./model.ts";
import { isModelFile, validateModelFile } from "./model-file/index.ts";
import { readLanguages } from "./model-header.ts";
import { countPromptTokens, maxPromptTokens, toPrompt } from "./prompt.ts";
import { transcribeChunk } from "./transcription/transcribe-chunk.ts";
import type { WhisperModel, WhisperState } from "./types.ts";

/** Whisper models in ggml form, which whisper.cpp computes. */
export const whisperFamily: RecognizerFamily = {
  capabilities: {
    detectsLanguage: true,
    takesLanguage: true,
    vocabularyTokens: maxPromptTokens,
    hasWordProbabilities: true,
  },
  recognizesFile: isModelFile,
  validateFile: validateModelFile,
  readLanguages,
  countVocabularyTokens: countPromptTokens,
  open: (runtime, path, useGpu) => {
    const model = openModel(runtime, path, useGpu);
    return {
      createRecognizer: (encoder) => createRecognizer(model, model.createState(encoder)),
      dispose: () => model.dispose(),
    };
  },
  compareEncoders,
};

/** Samples per encoder position of 20 ms. */
const samplesPerPosition = 320;

function createRecognizer(model: WhisperModel, state: WhisperState): Recognizer {
  return {
    detectLanguage: async (samples, threads) => (await state.detectLanguage(samples, threads)).probabilities,
    transcribe: (samples, options) => transcribe(state, samples, options),
    transcribeOnce: (samples, options) => transcribeOnce(model, state, samples, options),
    abort: () => state.abort(),
    dispose: () => state.dispose(),
  };
}

async function transcribe(
  state: WhisperState,
  samples: Float32Array,
  { vocabulary, ...options }: ChunkOptions,
): Promise<readonly RecognizedWords[]> {
  return await transcribeChunk(state, samples, { ...options, initialPrompt: toPrompt(vocabulary) });
}

async function transcribeOnce(
  model: WhisperModel,
  state: WhisperState,
  samples: Float32Array,
  { threads, isShort }: SinglePassOptions,
): Promise<string> {
  const audioContext = isShort ? Math.ceil(samples.length / samplesPerPosition) + 1 : undefined;
  const language = model.languages.includes("en") ? "en" : (model.languages[0] ?? "en");
  const options = { language, threads, beamSize: 1, temperatureIncrement: 0 };
  const { segments } = await state.transcribe(samples, {
    ...options,
    ...(audioContext === undefined ? {} : { audioContext }),
  });
  const numbers = segments.flatMap((segment) => [segment.averageLogProbability, segment.noSpeechProbability]);
  if (!numbers.every(Number.isFinite)) throw new Error("it computes numbers that are none");
  return segments.map((segment) => segment.text).join(" ");
}
