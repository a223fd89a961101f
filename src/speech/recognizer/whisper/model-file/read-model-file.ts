import {
  bounded,
  FileReader,
  hasHeader,
  ModelFileError,
  readNumbers,
  readTensors,
  type StoredTensor,
} from "../../ggml-file/index.ts";

/** The numbers at the start of a ggml whisper file, in file order. */
const SIZES = [
  "vocabulary",
  /** Number of the encoder's positions of 20 ms. */
  "audioContext",
  "audioWidth",
  "audioHeads",
  "audioLayers",
  "textContext",
  "textWidth",
  "textHeads",
  "textLayers",
  "mels",
  /** ggml's number of the weights' form, plus 1000 for each version of quantization. */
  "weightForm",
] as const;
export type ModelSizes = Readonly<Record<(typeof SIZES)[number], number>>;

/** The numbers before the vocabulary of a ggml whisper file. */
export interface ModelStart {
  readonly sizes: ModelSizes;
  readonly filters: { readonly bands: number; readonly bins: number };
}

/** Locations of the parts of a ggml whisper file. */
export interface ModelFile extends ModelStart {
  /** Number of words in the vocabulary; special tokens may be left out. */
  readonly words: number;
  /** Whether a single space is one of the words; decoding looks it up. */
  readonly hasSpace: boolean;
  readonly tensors: ReadonlyMap<string, StoredTensor>;
}

/** Limits far above any whisper model's sizes; the native loader has the same (native/patches/limits). */
const MAX_WORD_BYTES = 4096;
const MAX_WORDS = 60_000;
const MAX_FILTERS = 1024;
const SPACE = 0x20;

/**
 * Reads the header, the lengths of the vocabulary's words and the tensor table of a ggml whisper file, up to its last
 * byte, but no weights. @throws {ModelFileError} when it is truncated or has values that no whisper model has
 * @param check called before the rest is read; an error that it throws ends the reading
 */
export function readModelFile(path: string, check: (start: ModelStart) => void = () => {}): ModelFile {
  using reader = new FileReader(path);
  const sizes = readHeader(reader, path);
  const filters = readFilterSizes(reader);
  check({ sizes, filters });
  skipFilters(reader, filters);
  let hasSpace = false;
  const words = readVocabulary(reader, (length) => {
    if (length === 1) hasSpace = reader.bytes(1)[0] === SPACE || hasSpace;
    else reader.skip(length);
  });
  return { sizes, filters, words, hasSpace, tensors: readTensors(reader, "whisper", 1) };
}

/**
 * Reads the text tokens of a whisper file, one character for each byte. @throws {ModelFileError} when it is truncated
 */
export function readTokens(path: string): Set<string> {
  using reader = new FileReader(path);
  readHeader(reader, path);
  skipFilters(reader, readFilterSizes(reader));
  const tokens = new Set<string>();
  readVocabulary(reader, (length) => tokens.add(reader.bytes(length).toString("latin1")));
  return tokens;
}

function readFilterSizes(reader: FileReader): ModelStart["filters"] {
  const bands = bounded(reader, "the number of mel filters", 1, MAX_FILTERS);
  const bins = bounded(reader, "the length of a mel filter", 1, MAX_FILTERS);
  return { bands, bins };
}

function skipFilters(reader: FileReader, { bands, bins }: ModelStart["filters"]): void {
  reader.skip(bands * bins * Float32Array.BYTES_PER_ELEMENT);
}

function readVocabulary(reader: FileReader, read: (length: number) => void): number {
  const words = bounded(reader, "the number of words in the vocabulary", 1, MAX_WORDS);
  for (let word = 0; word < words; word++) {
    const length = reader.int32();
    // Does not call `bounded`: building its description for each of 50,000 words takes longer than reading them.
    if (length < 0 || length > MAX_WORD_BYTES) {
      reader.fail(`the length of word ${word} of the vocabulary is ${length}, not 0 to ${MAX_WORD_BYTES}`);
    }
    read(length);
  }
  return words;
}

/** Reads the sizes from a file's header. @throws {Error} with a hint when it is not a ggml whisper model */
export function readSizes(path: string): ModelSizes {
  using reader = new FileReader(path);
  return readHeader(reader, path);
}

/** Reads the same from an open file. @throws {ModelFileError} when it does not start like a ggml whisper file */
function readHeader(reader: FileReader, path: string): ModelSizes {
  if (!hasHeader(reader, SIZES.length)) {
    throw new ModelFileError(`${path} is not a whisper model in ggml form; get one with "transcribe models pull"`);
  }
  return readNumbers(reader, SIZES);
}

/** Returns whether a file begins like a whisper model in ggml form. @throws {Error} when it cannot be read */
export function isModelFile(path: string): boolean {
  using reader = new FileReader(path);
  return hasHeader(reader, SIZES.length);
}
