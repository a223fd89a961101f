import {
  bounded,
  FileReader,
  hasHeader,
  ModelFileError,
  readNumbers,
  readTensors,
  type StoredTensor,
} from "../../ggml-file/index.ts";

/** The numbers at the start of a ggml file of Parakeet, in file order. */
const SIZES = [
  /** Number of tokens without blank. */
  "vocabulary",
  /** Length of the longest window in frames of 10 ms. */
  "audioContext",
  "width",
  "heads",
  "layers",
  "mels",
  /** ggml's number of the weights' form, plus 1000 for each version of quantization. */
  "weightForm",
  /** Number of samples in a Fourier transform. */
  "transform",
  "subsampling",
  /** Channels of the convolutions before the encoder's layers. */
  "channels",
  /** Width in frames of the layers' convolutions. */
  "kernel",
  "predictorWidth",
  "predictorLayers",
  /** Number of durations that a token can have. */
  "durations",
  /** Maximum number of tokens in one frame. */
  "maxSymbols",
] as const;
export type ModelSizes = Readonly<Record<(typeof SIZES)[number], number>>;

/** Contents of a ggml file of Parakeet, without weights. */
export interface ModelFile {
  readonly sizes: ModelSizes;
  readonly filters: { readonly bands: number; readonly bins: number };
  /** Number of samples of the window function. */
  readonly window: number;
  /** Durations of tokens in frames of 80 ms. */
  readonly durations: readonly number[];
  /** Texts of the tokens, as bytes. */
  readonly pieces: readonly Buffer[];
  readonly tensors: ReadonlyMap<string, StoredTensor>;
}

/** Limits far above any model's. */
const MAX_FILTERS = 1024;
const MAX_WINDOW = 1 << 14;
const MAX_DURATION = 8;
const MAX_PIECES = 1 << 16;
const MAX_PIECE_BYTES = 128;

/**
 * Reads the header, the vocabulary and the tensor table of a ggml file of Parakeet, up to its last byte, but no weights.
 * @throws {ModelFileError} when it is truncated or has values that no such model has
 * @param check called before the rest is read; an error that it throws ends the reading
 */
export function readModelFile(path: string, check: (sizes: ModelSizes) => void): ModelFile {
  using reader = new FileReader(path);
  const start = readStart(reader, path, check);
  return { ...start, tensors: readTensors(reader, "Parakeet", 0) };
}

/** Reads the same without the tensor table. @throws {ModelFileError} */
export function readModelStart(path: string): Omit<ModelFile, "tensors"> {
  using reader = new FileReader(path);
  return readStart(reader, path, () => {});
}

function readStart(reader: FileReader, path: string, check: (sizes: ModelSizes) => void): Omit<ModelFile, "tensors"> {
  const sizes = readHeader(reader, path);
  check(sizes);
  const bands = bounded(reader, "the number of mel filters", 1, MAX_FILTERS);
  const bins = bounded(reader, "the length of a mel filter", 1, MAX_WINDOW);
  reader.skip(bands * bins * Float32Array.BYTES_PER_ELEMENT);
  const window = bounded(reader, "the length of the window", 1, MAX_WINDOW);
  reader.skip(window * Float32Array.BYTES_PER_ELEMENT);
  const durations = Array.from({ length: sizes.durations }, () => bounded(reader, "a duration", 0, MAX_DURATION));
  const count = bounded(reader, "the number of pieces", 1, MAX_PIECES);
  const pieces = Array.from({ length: count }, () => {
    const length = bounded(reader, "the length of a piece", 0, MAX_PIECE_BYTES);
    return Buffer.from(reader.bytes(length));
  });
  return { sizes, filters: { bands, bins }, window, durations, pieces };
}

function readHeader(reader: FileReader, path: string): ModelSizes {
  if (!hasHeader(reader, SIZES.length)) throw new ModelFileError(`${path} is not a Parakeet model in ggml form`);
  return readNumbers(reader, SIZES);
}

/** Sizes by which a file is told from a Whisper model, whose numbers at these places are 448 and the decoder's heads. */
export const MEL_SIZES = [80, 128];
export const TRANSFORM = 512;

/** Returns whether a file begins like a Parakeet model in ggml form. @throws {Error} when it cannot be read */
export function isModelFile(path: string): boolean {
  using reader = new FileReader(path);
  if (!hasHeader(reader, SIZES.length)) return false;
  const { mels, transform } = readNumbers(reader, SIZES);
  return MEL_SIZES.includes(mels) && transform === TRANSFORM;
}
