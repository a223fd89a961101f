import { type ExpectedTensor, FLOAT16, FLOAT32, tensorTypes } from "../../src/speech/recognizer/ggml-file/index.ts";
import { expectedTensors, weightTypes } from "../../src/speech/recognizer/whisper/model-file/expected-tensors.ts";
import type { ModelSizes } from "../../src/speech/recognizer/whisper/model-file/index.ts";

/** Bytes of a model file and where its numbers lie: all that is not weights. */
export interface ModelBytes {
  readonly bytes: Buffer;
  /** Offsets of 32-bit numbers: sizes, counts and lengths. */
  readonly numbers: readonly number[];
  /** Offsets of the tensors' entries, and of the end of the last one. */
  readonly tensors: readonly number[];
}

/** The smallest sizes that whisper.cpp can transcribe with; weights in 16 bits. */
export const smallSizes: ModelSizes = {
  ...{ vocabulary: 51_864, audioContext: 1500, audioWidth: 64, audioHeads: 1, audioLayers: 1 },
  ...{ textContext: 448, textWidth: 64, textHeads: 1, textLayers: 1, mels: 80, weightForm: 1 },
};

const MAGIC = 0x67676d6c;
/** Text tokens of the English vocabulary. */
const WORDS = 50_256;

/** A whole whisper model, whose weights follow from their place. */
export function smallWhisper(sizes: ModelSizes = smallSizes): ModelBytes {
  const file = new Writer();
  file.numbers(MAGIC, sizes.vocabulary, sizes.audioContext, sizes.audioWidth, sizes.audioHeads, sizes.audioLayers);
  file.numbers(sizes.textContext, sizes.textWidth, sizes.textHeads, sizes.textLayers, sizes.mels, sizes.weightForm);
  file.numbers(sizes.mels, 201);
  file.weights(FLOAT32, sizes.mels * 201);
  file.numbers(WORDS);
  for (let word = 0; word < WORDS; word++) {
    file.text(word === 0 ? " " : ` ${word.toString(36)}`, word < 4 || word > WORDS - 4);
  }
  const weightType = weightTypes.get(sizes.weightForm % 1_000) ?? FLOAT16;
  for (const [name, tensor] of expectedTensors(sizes, weightType)) file.tensor(name, tensor);
  return file.finish();
}

class Writer {
  readonly #parts: Uint8Array[] = [];
  readonly #numbers: number[] = [];
  readonly #tensors: number[] = [];
  #length = 0;

  numbers(...values: number[]): void {
    for (const value of values) {
      this.#numbers.push(this.#length);
      this.#add(Int32Array.of(value));
    }
  }

  /** @param known whether its length is one of the numbers that are listed */
  text(text: string, known: boolean): void {
    if (known) this.numbers(text.length);
    else this.#add(Int32Array.of(text.length));
    this.#add(Buffer.from(text, "latin1"));
  }

  tensor(name: string, { shape, type }: ExpectedTensor): void {
    this.#tensors.push(this.#length);
    // ggml counts the innermost dimension first.
    this.numbers(shape.length, name.length, type, ...shape.toReversed());
    this.#add(Buffer.from(name, "latin1"));
    this.weights(
      type,
      shape.reduce((product, size) => product * size, 1),
    );
  }

  weights(type: number, count: number): void {
    if (type === FLOAT32) this.#add(Float32Array.from({ length: count }, (_, index) => weightAt(index)));
    else if (type === FLOAT16) this.#add(Float16Array.from({ length: count }, (_, index) => weightAt(index)));
    else {
      const { blockElements = 1, blockBytes = 1 } = tensorTypes.get(type) ?? {};
      this.#add(new Uint8Array((count / blockElements) * blockBytes));
    }
  }

  finish(): ModelBytes {
    return { bytes: Buffer.concat(this.#parts), numbers: this.#numbers, tensors: [...this.#tensors, this.#length] };
  }

  #add(values: Int32Array | Float32Array | Float16Array | Uint8Array): void {
    this.#parts.push(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    this.#length += values.byteLength;
  }
}

/** Small, of both signs, and never the same twice in a row. */
function weightAt(index: number): number {
  return (((index * 2_654_435_761) % 1024) - 512) / 4096;
}
