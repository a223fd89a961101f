import { FileReader, ModelFileError } from "./file-reader.ts";

/** The numbers at the start of a ggml whisper file, in file order. */
export interface ModelSizes {
  readonly vocabulary: number;
  /** Number of the encoder's positions of 20 ms. */
  readonly audioContext: number;
  readonly audioWidth: number;
  readonly audioHeads: number;
  readonly audioLayers: number;
  readonly textContext: number;
  readonly textWidth: number;
  readonly textHeads: number;
  readonly textLayers: number;
  readonly mels: number;
  /** ggml's number of the weights' form, plus 1000 for each version of quantization. */
  readonly weightForm: number;
}

/** "ggml" in the byte order of the file. */
const MAGIC = 0x67676d6c;
const HEADER_BYTES = 48;

/**
 * Reads the sizes from the header of a whisper model file.
 * @throws {Error} with a hint for the user when the file cannot be read or is not a ggml whisper model
 */
export function readSizes(path: string): ModelSizes {
  using reader = new FileReader(path);
  return readHeader(reader, path);
}

/** Reads the same from an open file. @throws {ModelFileError} when it does not start like a ggml whisper file */
export function readHeader(reader: FileReader, path: string): ModelSizes {
  if (reader.size < HEADER_BYTES || reader.int32() !== MAGIC) {
    throw new ModelFileError(`${path} is not a whisper model in ggml form; get one with "transcribe models pull"`);
  }
  return {
    vocabulary: reader.int32(),
    audioContext: reader.int32(),
    audioWidth: reader.int32(),
    audioHeads: reader.int32(),
    audioLayers: reader.int32(),
    textContext: reader.int32(),
    textWidth: reader.int32(),
    textHeads: reader.int32(),
    textLayers: reader.int32(),
    mels: reader.int32(),
    weightForm: reader.int32(),
  };
}

/** Returns whether a file begins like a whisper model in ggml form. @throws {Error} when it cannot be read */
export function isModelFile(path: string): boolean {
  using reader = new FileReader(path);
  return reader.size >= HEADER_BYTES && reader.int32() === MAGIC;
}
