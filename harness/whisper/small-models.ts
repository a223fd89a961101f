import { FLOAT16, FLOAT32, tensorTypes } from "../../src/speech/recognizer/ggml-file/index.ts";
import { expectedTensors, weightTypes } from "../../src/speech/recognizer/whisper/model-file/expected-tensors.ts";
import type { ModelSizes } from "../../src/speech/recognizer/whisper/model-file/index.ts";
import { MAGIC, type ModelBytes, type ModelPart, modelBytes, numberParts } from "../ggml-model.ts";

/** The smallest sizes that whisper.cpp can transcribe with; weights in 16 bits. */
export const smallSizes: ModelSizes = {
  ...{ vocabulary: 51_864, audioContext: 1500, audioWidth: 64, audioHeads: 1, audioLayers: 1 },
  ...{ textContext: 448, textWidth: 64, textHeads: 1, textLayers: 1, mels: 80, weightForm: 1 },
};

/** Text tokens of the English vocabulary. */
const WORDS = 50_256;

/** A whole whisper model, whose weights follow from their place. */
export function smallWhisper(sizes: ModelSizes = smallSizes): ModelBytes {
  return modelBytes(partsOf(sizes));
}

function* partsOf(sizes: ModelSizes): Generator<ModelPart> {
  const { vocabulary, audioContext, audioWidth, audioHeads, audioLayers, mels, weightForm } = sizes;
  yield* numberParts(MAGIC, vocabulary, audioContext, audioWidth, audioHeads, audioLayers);
  yield* numberParts(sizes.textContext, sizes.textWidth, sizes.textHeads, sizes.textLayers, mels, weightForm);
  yield* numberParts(mels, 201);
  yield { kind: "floats", values: weights(mels * 201) };
  yield* numberParts(WORDS);
  for (let word = 0; word < WORDS; word++) {
    const text = word === 0 ? " " : ` ${word.toString(36)}`;
    yield { kind: "text", text, isListed: word < 4 || word > WORDS - 4 };
  }
  for (const [name, tensor] of expectedTensors(sizes, weightTypes.get(weightForm % 1_000) ?? FLOAT16)) {
    const count = tensor.shape.reduce((product, size) => product * size, 1);
    const { blockElements = 1, blockBytes = 1 } = tensorTypes.get(tensor.type) ?? {};
    const isFloat = tensor.type === FLOAT32 || tensor.type === FLOAT16;
    const values = isFloat ? weights(count) : new Uint8Array((count / blockElements) * blockBytes);
    yield { kind: "tensor", name, ...tensor, values };
  }
}

/** Returns small numbers of both signs, never the same twice in a row. */
function weights(count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, index) => (((index * 2_654_435_761) % 1024) - 512) / 4096);
}
