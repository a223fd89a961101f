import type { Instructions } from "../../../runtimes/index.ts";
import { formOf } from "../ggml-file/index.ts";
import type { ModelKernels, Recognizer, RecognizerFamily, SinglePassOptions } from "../recognizer.ts";
import { compareEncoders } from "./encoder/compare-encoders.ts";
import { openModel } from "./model.ts";
import { isModelFile, readSizes, validateModelFile } from "./model-file/index.ts";
import { canTranslate, readLanguages } from "./model-header.ts";
import { countPromptTokens, maxPromptTokens } from "./prompt.ts";
import { transcribeChunk } from "./transcription/transcribe-chunk.ts";
import { transcribeLive } from "./transcription/transcribe-live.ts";
import { translateChunk } from "./transcription/translate-chunk.ts";
import type { WhisperModel, WhisperState } from "./types.ts";

/** Whisper models in ggml form, which whisper.cpp computes. */
export const whisperFamily: RecognizerFamily = {
  capabilities: { detectsLanguage: true, vocabularyTokens: maxPromptTokens, hasCalibratedProbabilities: true },
  // Some have MIT's, others Apache's; the catalogue has each model's.
  licence: null,
  recognizesFile: isModelFile,
  validateFile: validateModelFile,
  readLanguages,
  canTranslate,
  countVocabularyTokens: countPromptTokens,
  open: (runtime, path, useGpu, slots) => {
    const model = openModel(runtime, path, useGpu, slots);
    const isOnGpu = useGpu && runtime.gpus().length > 0;
    return {
      createRecognizer: (encoder) =>
        createRecognizer(model, model.createState(encoder), { isOnGpu, hasOnnxEncoder: encoder !== undefined }),
      decoderWork: () => {
        const { steps } = model.work();
        return { steps: steps.evaluated, rows: steps.items };
      },
      dispose: () => model.dispose(),
    };
  },
  describeKernels,
  compareEncoders,
};

/** Number in a file's header for weights of 16 bits, which our decoder rounds to 8 bits. */
const WEIGHTS_OF_16_BITS = 1;

function describeKernels(path: string, instructions: Instructions): ModelKernels {
  const hasFloats = formOf(readSizes(path)) === WEIGHTS_OF_16_BITS;
  const decoder = hasFloats ? "8-bit kernels" : "ggml's with 8-bit attention";
  return { encoder: "the model's own", decoder: instructions === "none" ? "ggml's" : decoder };
}

/** Samples per encoder position of 20 ms, and positions of 30 s. */
const samplesPerPosition = 320;
const encoderPositions = 1500;
/** Step of the audio context on a GPU, which reads keys in blocks: behind a shorter window it would read old data. */
const gpuContextStep = 256;

function createRecognizer(
  model: WhisperModel,
  state: WhisperState,
  { isOnGpu, hasOnnxEncoder }: { readonly isOnGpu: boolean; readonly hasOnnxEncoder: boolean },
): Recognizer {
  return {
    detectLanguage: (samples, threads) => state.detectLanguage(samples, threads),
    transcribe: (samples, options) => transcribeChunk(state, samples, options),
    translate: (samples, options) => translateChunk(state, samples, options),
    transcribeLive: (samples, options) =>
      transcribeLive(state, samples, { ...options, isShort: !isOnGpu, hasOnnxEncoder }),
    transcribeOnce: (samples, options) => transcribeOnce(model, state, samples, { ...options, isOnGpu }),
    abort: () => state.abort(),
    dispose: () => state.dispose(),
  };
}

async function transcribeOnce(
  model: WhisperModel,
  state: WhisperState,
  samples: Float32Array,
  { threads, isShort, isOnGpu }: SinglePassOptions & { readonly isOnGpu: boolean },
): Promise<string> {
  const step = isOnGpu ? gpuContextStep : 1;
  const positions = step * Math.ceil((samples.length / samplesPerPosition + 1) / step);
  const audioContext = isShort ? Math.min(encoderPositions, positions) : undefined;
  const language = model.languages.includes("en") ? "en" : (model.languages[0] ?? "en");
  const options = { language, threads, beamSize: 1, temperatureIncrement: 0 };
  const { segments } = await state.transcribe(samples, { ...options, ...(audioContext && { audioContext }) });
  const numbers = segments.flatMap((segment) => [segment.averageLogProbability, segment.noSpeechProbability]);
  if (!numbers.every(Number.isFinite)) throw new Error("it computes numbers that are not finite");
  return segments.map((segment) => segment.text).join(" ");
}
