import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { FLOAT16 } from "../../src/speech/recognizer/ggml-file/index.ts";
import { expectedTensors } from "../../src/speech/recognizer/whisper/model-file/expected-tensors.ts";

/** Sizes of large-v3-turbo, from OpenAI's model card and the header of its ggml file. */
const SIZES = {
  vocabulary: 51_866,
  audioContext: 1500,
  audioWidth: 1280,
  audioHeads: 20,
  audioLayers: 32,
  textContext: 448,
  textWidth: 1280,
  textHeads: 20,
  textLayers: 4,
  mels: 128,
  weightForm: 1,
};
const MAGIC = 0x67676d6c;
/** Length of a mel filter: half of a Fourier transform of 400 samples, and its middle. */
const FILTER_BINS = 201;
const HEADER_BYTES = 48;
/** Number of random bytes that repeat. */
const BLOCK_BYTES = 16 * 1024 ** 2;

/** Size of the written file, for checks of the disk space. */
export const RANDOM_WHISPER_BYTES = 1_650_000_000;

/**
 * Writes a ggml file in the shape of large-v3-turbo with random weights, which has the pace of the real model for as many
 * tokens. The words of its vocabulary are those of another model.
 * @param wordsOf path of a multilingual Whisper model
 */
export function writeRandomWhisper(path: string, wordsOf: string): void {
  const file = openSync(path, "w", 0o600);
  const write = (bytes: NodeJS.ArrayBufferView) => {
    for (let from = 0; from < bytes.byteLength; ) from += writeSync(file, bytes, from);
  };
  const integers = (...values: number[]) => write(Int32Array.from(values));
  try {
    integers(MAGIC, ...Object.values(SIZES));
    integers(SIZES.mels, FILTER_BINS);
    write(new Float32Array(SIZES.mels * FILTER_BINS).fill(1 / FILTER_BINS));
    write(vocabularyOf(wordsOf));
    const noise = smallNumbers();
    for (const [name, { shape, type }] of expectedTensors(SIZES, FLOAT16)) {
      integers(shape.length, name.length, type, ...shape.toReversed());
      write(new TextEncoder().encode(name));
      const count = shape.reduce((product, size) => product * size, 1);
      if (type !== FLOAT16) {
        write(new Float32Array(count).fill(name.includes("ln") && name.endsWith("weight") ? 1 : 0));
        continue;
      }
      for (let left = count * 2; left > 0; left -= BLOCK_BYTES) write(noise.subarray(0, Math.min(left, BLOCK_BYTES)));
    }
  } finally {
    closeSync(file);
  }
}

/** Returns the vocabulary of a ggml file as it is stored: the number of words, and each with its length. */
function vocabularyOf(path: string): Uint8Array {
  const bytes = readFileSync(path);
  const [bands, bins] = [bytes.readInt32LE(HEADER_BYTES), bytes.readInt32LE(HEADER_BYTES + 4)];
  const start = HEADER_BYTES + 8 + bands * bins * Float32Array.BYTES_PER_ELEMENT;
  let end = start + 4;
  for (let words = bytes.readInt32LE(start); words > 0; words--) end += 4 + bytes.readInt32LE(end);
  return bytes.subarray(start, end);
}

/** Returns numbers of 16 bits between 0.008 and 0.03 of either sign, the same in every run. */
function smallNumbers(): Uint8Array {
  let state = 1;
  const numbers = Uint16Array.from({ length: BLOCK_BYTES / 2 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const [sign, exponent, mantissa] = [state >>> 31, 8 + ((state >>> 30) & 1), (state >>> 12) & 0x3ff];
    return (sign << 15) | (exponent << 10) | mantissa;
  });
  return new Uint8Array(numbers.buffer);
}
