import { type EngineWord, SAMPLE_RATE, shifted } from "../../../timeline/index.ts";
import type { Recognizer, RecognizerFamily } from "../recognizer.ts";
import { readLanguages } from "./languages.ts";
import { openModel, type ParakeetState } from "./model.ts";
import { isModelFile, validateModelFile } from "./model-file/index.ts";
import { cutWindows } from "./windows.ts";

/** NVIDIA's Parakeet TDT models in ggml form, which parakeet.cpp computes. They neither detect languages nor take names. */
export const parakeetFamily: RecognizerFamily = {
  capabilities: { detectsLanguage: false, vocabularyTokens: 0 },
  licence: {
    name: "CC-BY-4.0",
    attribution:
      "Parakeet TDT by NVIDIA, converted to ggml's format; licensed under CC-BY-4.0 (https://creativecommons.org/licenses/by/4.0/)",
  },
  recognizesFile: isModelFile,
  validateFile: validateModelFile,
  readLanguages,
  countVocabularyTokens: () => 0,
  open: (runtime, path, useGpu) => {
    const model = openModel(runtime, path, useGpu);
    return { createRecognizer: () => createRecognizer(model.createState()), dispose: () => model.dispose() };
  },
  compareEncoders: null,
};

function createRecognizer(state: ParakeetState): Recognizer {
  return {
    detectLanguage: async () => {
      throw new Error("Parakeet models do not detect languages");
    },
    transcribe: async (samples, { threads, signal }) => [{ words: await transcribe(state, samples, threads, signal) }],
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
