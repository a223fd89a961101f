import { describe, expect, test } from "bun:test";
import { truncateSync } from "node:fs";
import { available } from "../../../../../harness/checkout.ts";
import type { ModelBytes } from "../../../../../harness/ggml-model.ts";
import { smallSizes, smallWhisper } from "../../../../../harness/whisper/small-models.ts";
import { validateModelFile } from "../../../../../src/speech/recognizer/whisper/model-file/index.ts";
import { basePath } from "../../../../support/whisper.ts";
import { refusal as refusalBy, withFile } from "../../refusal.ts";

const model = smallWhisper();
/** Numbers of the file by their index: magic and sizes, mel filters, words, lengths of words, tensors. */
const at = (index: number) => model.numbers[index] ?? 0;
const vocabularySize = 1;
const widthOfEncoder = 3;
const weightForm = 11;
const bandsOfFilters = 12;
const binsOfFilters = 13;
const words = 14;
const lengthOfFirstWord = 15;
const [firstTensor = 0, secondTensor = 0] = model.tensors;

/** Changes bytes of a model in place, or returns others. */
type Spoil = (bytes: Buffer) => Buffer | undefined;
const number =
  (offset: number, value: number): Spoil =>
  (bytes) => {
    bytes.writeInt32LE(value, offset);
    return undefined;
  };

const text =
  (offset: number, value: string): Spoil =>
  (bytes) => {
    bytes.write(value, offset);
    return undefined;
  };

function refusal(spoil: Spoil): string {
  const copy: Buffer = Buffer.from(model.bytes);
  return refusalBy(spoil(copy) ?? copy, validateModelFile);
}

describe("a model file", () => {
  test.each<[string, ModelBytes]>([
    ["of 16-bit weights", model],
    ["of weights in 5 bits, second version", smallWhisper({ ...smallSizes, weightForm: 2_009 })],
    ["of several languages and layers", smallWhisper({ ...smallSizes, vocabulary: 51_865, audioLayers: 3, mels: 128 })],
  ])("%s is accepted if it is complete", (_, { bytes }) => {
    expect(refusal(() => bytes)).toBe("");
  });

  test.each<[string, Spoil, string]>([
    ["is empty", () => Buffer.alloc(0), 'not a whisper model in ggml form; get one with "transcribe models pull"'],
    ["has another magic number", number(0, 1), "not a whisper model in ggml form"],
    ["ends in its header", (bytes) => bytes.subarray(0, 47), "not a whisper model in ggml form"],
    ["has a vocabulary of no model", number(at(vocabularySize), 51_867), "the size of the vocabulary is 51867"],
    ["has a negative width", number(at(widthOfEncoder), -64), "the width of the encoder is -64, not 64"],
    ["has other heads than its width asks for", number(at(widthOfEncoder), 128), "is 128, not 64"],
    ["has an endless layer count", number(at(9), 0x7fffffff), "layers is 2147483647, not 1 to 128"],
    ["has weights in 32 bits", number(at(weightForm), 0), "weights of form 0 are not supported"],
    ["has weights of an unknown form", number(at(weightForm), 5), "weights of form 5 are not supported"],
    ["has a negative form of weights", number(at(weightForm), -999), "weights of form -999 are not supported"],
    ["has filters whose product overflows", number(at(bandsOfFilters), 0x10000), "mel filters is 65536"],
    ["has other filters than mels", number(at(bandsOfFilters), 79), "mel filters is 79"],
    ["has filters for another spectrum", number(at(binsOfFilters), 512), "the length of a mel filter is 512"],
    ["has fewer words than none", number(at(words), -5), `words in the vocabulary is -5, not 1 to 60000 (at byte`],
    ["has a word of 2 GiB", number(at(lengthOfFirstWord), 0x7fffffff), "word 0 of the vocabulary is 2147483647"],
    ["has a word of negative length", number(at(lengthOfFirstWord), -1), "word 0 of the vocabulary is -1"],
    ["is cut off inside its vocabulary", (bytes) => bytes.subarray(0, firstTensor - 90_000), "bytes are missing"],
    ["ends after its vocabulary", (bytes) => bytes.subarray(0, firstTensor), "encoder.positional_embedding is missing"],
    ["has no space among its words", text(at(lengthOfFirstWord) + 4, "_"), "lacks the space"],
    ["has a tensor of 4096 dimensions", number(firstTensor, 4096), `is 4096, not 1 to 4 (at byte ${firstTensor + 4})`],
    ["has a tensor of no dimension", number(firstTensor, 0), "dimensions is 0, not 1 to 4"],
    ["has an endless name", number(firstTensor + 4, 0x7fffffff), "name is 2147483647, not 1 to 256"],
    ["has elements of an unknown type", number(firstTensor + 8, 99), "99 is not an element type"],
    [
      "has weights of another form than it says",
      number(at(weightForm), 7),
      "encoder.blocks.0.attn.query.weight is of f16, not q8_0",
    ],
    ["has a dimension of nothing", number(firstTensor + 12, 0), "a tensor's dimension is 0"],
    ["has a tensor that overflows", number(firstTensor + 16, 0x7fffffff), "bytes are missing: the file ends at"],
    ["has a tensor of another shape", (bytes) => swap(bytes, firstTensor + 12, firstTensor + 16), "not [1500,64]"],
    ["has a tensor under another name", text(firstTensor + 20, "E"), "is missing"],
    [
      "has a tensor twice",
      (bytes) => Buffer.concat([bytes, bytes.subarray(firstTensor, secondTensor)]),
      'the tensor "encoder.positional_embedding" occurs twice',
    ],
    [
      "lacks a tensor",
      (bytes) => Buffer.concat([bytes.subarray(0, firstTensor), bytes.subarray(secondTensor)]),
      "the tensor encoder.positional_embedding is missing",
    ],
    ["is cut off in its last tensor", (bytes) => bytes.subarray(0, -1), "bytes are missing"],
    ["goes on behind its last tensor", (bytes) => Buffer.concat([bytes, Buffer.alloc(3)]), "bytes are missing"],
  ])("that %s is refused", (_, spoil, words) => {
    expect(refusal(spoil)).toContain(words);
  });

  test("that claims to be as large as it is, all of it holes, is refused without reading it", () => {
    withFile(model.bytes.subarray(0, firstTensor), (path) => {
      truncateSync(path, 2 ** 42);
      expect(() => validateModelFile(path)).toThrow("dimensions is 0, not 1 to 4");
    });
  });

  test.skipIf(!available("the base model's tensors", basePath))("of OpenAI's is accepted", () => {
    expect(validateModelFile(basePath)).toMatchObject({ vocabulary: 51_865, audioLayers: 6, audioWidth: 512 });
  });
});

/** Exchanges two numbers. */
function swap(bytes: Buffer, one: number, other: number): Buffer {
  const value = bytes.readInt32LE(one);
  bytes.writeInt32LE(bytes.readInt32LE(other), one);
  bytes.writeInt32LE(value, other);
  return bytes;
}
