import { type Instructions, isAtLeast } from "../../../runtimes/index.ts";
import { type EngineWord, SAMPLE_RATE, shifted } from "../../../timeline/index.ts";
import { repeatedCount } from "../known-words.ts";
import type { Language, ModelKernels, Recognizer, RecognizerFamily } from "../recognizer.ts";
import { openModel, type ParakeetState } from "./model.ts";
import { hasQuantizedWeights, isModelFile, readVocabularySize, validateModelFile } from "./model-file/index.ts";
import { cutWindows } from "./windows.ts";

/** Languages of parakeet-tdt-0.6b-v3, from its model card. */
const EUROPEAN = "bg cs da de el en es et fi fr hr hu it lt lv mt nl pl pt ro ru sk sl sv uk".split(" ");
/** Size of the vocabulary of version 3. Earlier versions have 1,024 tokens and know only English. */
const EUROPEAN_VOCABULARY = 8192;

/** NVIDIA's Parakeet TDT models in ggml form, which parakeet.cpp computes. They neither detect languages nor take names. */
export const parakeetFamily: RecognizerFamily = {
  capabilities: { detectsLanguage: false, vocabularyTokens: 0, hasCalibratedProbabilities: false },
  licence: {
    name: "CC-BY-4.0",
    attribution:
      "Parakeet TDT by NVIDIA, converted to ggml's format; licensed under CC-BY-4.0 (https://creativecommons.org/licenses/by/4.0/)",
  },
  recognizesFile: isModelFile,
  validateFile: validateModelFile,
  readLanguages,
  canTranslate: () => false,
  countVocabularyTokens: () => 0,
  open: (runtime, path, useGpu) => {
    const model = openModel(runtime, path, useGpu);
    return {
      createRecognizer: () => createRecognizer(model.createState()),
      decoderWork: () => ({ steps: 0, rows: 0 }),
      dispose: () => model.dispose(),
    };
  },
  describeKernels,
  compareEncoders: null,
};

/** Whether weights are quantized decides which of our encoders computes, see native/README.md. */
function describeKernels(path: string, instructions: Instructions): ModelKernels {
  const own = hasQuantizedWeights(path)
    ? isAtLeast(instructions, "AVX-512 VNNI") && "8-bit products"
    : isAtLeast(instructions, "AVX-512 VNNI and BF16") && "bfloat16";
  return { encoder: own || "ggml's", decoder: "ggml's" };
}

/**
 * Returns a model's languages, sorted by code, by the size of its vocabulary: the file does not name them.
 * @throws {ModelFileError} with a hint for the user
 */
function readLanguages(modelPath: string): Language[] {
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  const codes = readVocabularySize(modelPath) === EUROPEAN_VOCABULARY ? EUROPEAN : ["en"];
  return codes.map((code) => ({ code, name: names.of(code) ?? code, modelCode: code }));
}

function createRecognizer(state: ParakeetState): Recognizer {
  return {
    detectLanguage: async () => {
      throw new Error("Parakeet models do not detect languages");
    },
    transcribe: async (samples, { threads, signal }) => [{ words: await transcribe(state, samples, threads, signal) }],
    translate: async () => {
      throw new Error("Parakeet models do not translate");
    },
    transcribeLive: async (samples, { known, threads, signal }) => {
      const words = await transcribe(state, samples, threads, signal);
      return words.slice(repeatedCount(words, known));
    },
    transcribeOnce: async (samples, { threads }) => {
      const words = await transcribe(state, samples, threads);
      return words
        .map(({ text }) => text)
        .join("")
        .trim();
    },
    abort: () => state.abort(),
    dispose: () => state.dispose(),
  };
}

/** Recognizes a chunk window by window. @throws {Error} when it was aborted */
async function transcribe(
  state: ParakeetState,
  samples: Float32Array,
  threads: number,
  signal?: AbortSignal,
): Promise<EngineWord[]> {
  const words: EngineWord[] = [];
  for (const { first, end } of cutWindows(samples)) {
    signal?.throwIfAborted();
    const recognized = await state.recognize(samples.subarray(first, end), threads);
    if (recognized === null) throw new Error("the transcription was aborted");
    words.push(...recognized.map((word) => shifted(word, first / SAMPLE_RATE)));
  }
  return words;
}
