import {
  explaining,
  FLOAT16,
  FLOAT32,
  formOf,
  ModelFileError,
  requireOneOf,
  requireTensors,
  requireWithin,
} from "../../ggml-file/index.ts";
import { expectedTensors, SUBSAMPLING, weightTypes } from "./expected-tensors.ts";
import {
  MEL_SIZES,
  type ModelFile,
  type ModelSizes,
  readModelFile,
  readModelStart,
  TRANSFORM,
} from "./read-model-file.ts";

/** The longest window of NVIDIA's models is 50 s; a shorter one would not hold the windows that are cut. */
const AUDIO_CONTEXT = { least: 3000, most: 5000 };
/** Samples of 25 ms, around which the Fourier transform lies. */
const WINDOW = 400;
const KERNELS = [5, 7, 9, 15, 31];
/** Limits around the published models: 17 to 42 layers of 512 or 1024 numbers in heads of 64 or 128. */
const WIDTH = { least: 32, most: 2048 };
const HEAD_WIDTHS = [16, 32, 64, 128];
const MAX_LAYERS = 64;
const CHANNELS = { least: 16, most: 512 };
const PREDICTOR = { least: 32, most: 1024 };
const VOCABULARY = { least: 256, most: 32_768 };
const DURATIONS = { least: 2, most: 9 };
const MAX_SYMBOLS = 64;

/** A checked model: its sizes, and the texts of its tokens. */
export interface CheckedModel {
  readonly sizes: ModelSizes;
  readonly pieces: readonly string[];
}

/**
 * Checks that native code can load a Parakeet TDT model in ggml form: the sizes are like those of published models, and
 * the tensors are exactly those that the sizes require, up to the file's last byte. Reads no weights.
 * @throws {ModelFileError} that says what is wrong and what to do
 */
export function validateModelFile(path: string): CheckedModel {
  return explained(path, () => {
    const file = readModelFile(path, requireSizes);
    return { sizes: file.sizes, pieces: requireParts(file) };
  });
}

/** Returns the size of a model's vocabulary. @throws {ModelFileError} */
export function readVocabularySize(path: string): number {
  return readSizes(path).vocabulary;
}

/** Returns whether a model's matrices have fewer than 16 bits. @throws {ModelFileError} */
export function hasQuantizedWeights(path: string): boolean {
  const type = weightTypes.get(formOf(readSizes(path)));
  return type !== FLOAT32 && type !== FLOAT16;
}

function readSizes(path: string): ModelSizes {
  return explained(path, () => readModelStart(path).sizes);
}

function explained<T>(path: string, read: () => T): T {
  const explain = (reason: string) =>
    `${path} is damaged or not a Parakeet TDT model: ${reason}; get it again from where it came`;
  return explaining(path, explain, read);
}

function requireSizes(sizes: ModelSizes): void {
  requireWithin("the size of the vocabulary", sizes.vocabulary, VOCABULARY.least, VOCABULARY.most);
  requireWithin("the longest window", sizes.audioContext, AUDIO_CONTEXT.least, AUDIO_CONTEXT.most);
  requireWithin("the width of the encoder", sizes.width, WIDTH.least, WIDTH.most);
  requireWithin("the number of heads", sizes.heads, 1, sizes.width);
  requireOneOf("the width of a head", sizes.width / sizes.heads, HEAD_WIDTHS);
  requireWithin("the number of layers", sizes.layers, 1, MAX_LAYERS);
  requireOneOf("the number of mels", sizes.mels, MEL_SIZES);
  requireOneOf("the length of the Fourier transform", sizes.transform, [TRANSFORM]);
  requireOneOf("the subsampling", sizes.subsampling, [SUBSAMPLING]);
  requireWithin("the number of channels", sizes.channels, CHANNELS.least, CHANNELS.most);
  requireOneOf("the width of the layers' convolutions", sizes.kernel, KERNELS);
  requireWithin("the width of the predictor", sizes.predictorWidth, PREDICTOR.least, PREDICTOR.most);
  requireWithin("the number of the predictor's layers", sizes.predictorLayers, 1, 2);
  requireWithin("the number of durations", sizes.durations, DURATIONS.least, DURATIONS.most);
  requireWithin("the number of tokens in a frame", sizes.maxSymbols, 1, MAX_SYMBOLS);
}

/** @returns the texts of the tokens */
function requireParts({ sizes, filters, window, durations, pieces, tensors }: ModelFile): string[] {
  requireOneOf("the number of mel filters", filters.bands, [sizes.mels]);
  requireOneOf("the length of a mel filter", filters.bins, [sizes.transform / 2 + 1]);
  requireOneOf("the length of the window", window, [WINDOW]);
  if (!durations.some((duration) => duration > 0)) throw new ModelFileError("no duration is above 0");
  requireOneOf("the number of pieces", pieces.length, [sizes.vocabulary]);
  const { weightForm } = sizes;
  const weightType = weightTypes.get(formOf(sizes));
  if (weightType === undefined) {
    throw new ModelFileError(`weights of form ${weightForm} are not supported; f32, f16, q8_0, q5_0 and q4_0 are`);
  }
  requireTensors(tensors, expectedTensors(sizes, weightType), "Parakeet");
  return pieces.map(decodePiece);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodePiece(bytes: Buffer, index: number): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ModelFileError(`the text of piece ${index} is not UTF-8`);
  }
}
