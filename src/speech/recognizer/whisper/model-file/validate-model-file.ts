import {
  explaining,
  formOf,
  ModelFileError,
  requireOneOf,
  requireTensors,
  requireWithin,
} from "../../ggml-file/index.ts";
import { expectedTensors, weightTypes } from "./expected-tensors.ts";
import { type ModelFile, type ModelSizes, type ModelStart, readModelFile } from "./read-model-file.ts";

/** Sizes that all of OpenAI's models share; they differ only in width, layers, mels and vocabulary. */
const AUDIO_CONTEXT = 1500;
const TEXT_CONTEXT = 448;
const HEAD_WIDTH = 64;
/** Limits; large models have 20 heads and 32 layers. */
const MAX_HEADS = 64;
const MAX_LAYERS = 128;
const MEL_SIZES = [80, 128];
/** Vocabulary sizes of the English-only models, the multilingual ones with 99 languages, and large-v3 with 100. */
const VOCABULARIES = [51_864, 51_865, 51_866];
/** Text tokens of the English vocabulary; the multilingual one has one more. */
const LEAST_WORDS = 50_256;
/** Bins of half a Fourier transform of 400 samples (25 ms), with the middle one. */
const FILTER_BINS = 201;

/**
 * Checks that native code can load a whisper model in ggml form: the sizes are those of a whisper model, the vocabulary
 * is complete, and the tensors are exactly those that the sizes require, up to the file's last byte. Reads no weights.
 * @throws {ModelFileError} that says what is wrong and what to do
 */
export function validateModelFile(path: string): ModelSizes {
  const explain = (reason: string) =>
    `${path} is damaged or not a whisper model: ${reason}; get it again with "transcribe models pull", or from where it came`;
  return explaining(path, explain, () => {
    const file = readModelFile(path, requireSizes);
    requireParts(file);
    return file.sizes;
  });
}

function requireSizes({ sizes, filters }: ModelStart): void {
  const { audioHeads, audioWidth } = sizes;
  requireOneOf("the size of the vocabulary", sizes.vocabulary, VOCABULARIES);
  requireOneOf("the number of audio positions", sizes.audioContext, [AUDIO_CONTEXT]);
  requireOneOf("the number of text positions", sizes.textContext, [TEXT_CONTEXT]);
  requireOneOf("the number of mels", sizes.mels, MEL_SIZES);
  requireWithin("the number of heads", audioHeads, 1, MAX_HEADS);
  requireOneOf("the number of the decoder's heads", sizes.textHeads, [audioHeads]);
  requireOneOf("the width of the encoder", audioWidth, [HEAD_WIDTH * audioHeads]);
  requireOneOf("the width of the decoder", sizes.textWidth, [audioWidth]);
  requireWithin("the number of the encoder's layers", sizes.audioLayers, 1, MAX_LAYERS);
  requireWithin("the number of the decoder's layers", sizes.textLayers, 1, MAX_LAYERS);
  requireOneOf("the number of mel filters", filters.bands, [sizes.mels]);
  requireOneOf("the length of a mel filter", filters.bins, [FILTER_BINS]);
}

function requireParts({ sizes, words, hasSpace, tensors }: ModelFile): void {
  const { vocabulary, weightForm } = sizes;
  requireWithin("the number of words in the vocabulary", words, LEAST_WORDS, vocabulary);
  if (!hasSpace) throw new ModelFileError("the vocabulary lacks the space");
  const weightType = weightTypes.get(formOf(sizes));
  if (weightType === undefined)
    throw new ModelFileError(`weights of form ${weightForm} are not supported; 16-bit and quantized weights are`);
  requireTensors(tensors, expectedTensors(sizes, weightType), "whisper");
}
