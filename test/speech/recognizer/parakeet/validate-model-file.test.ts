import { describe, expect, test } from "bun:test";
import { smallParakeet, tinyModel } from "../../../../harness/parakeet/random-model.ts";
import { smallWhisper } from "../../../../harness/whisper/small-models.ts";
import { familyOf, readModelLanguages, validateModelFile } from "../../../../src/speech/index.ts";
import { parakeetFamily } from "../../../../src/speech/recognizer/parakeet/index.ts";
import { refusal as refusalBy, withFile } from "../refusal.ts";

const model = smallParakeet();
const [firstTensor = 0, secondTensor = 0] = model.tensors;
/** Offsets by index: magic and sizes, mel filters, window, durations, number of pieces, lengths of pieces, tensors. */
const at = (index: number) => model.numbers[index] ?? 0;

const refusal = (bytes: Uint8Array) => refusalBy(bytes, validateModelFile);

function withNumber(offset: number, value: number): Buffer {
  const bytes = Buffer.from(model.bytes);
  bytes.writeInt32LE(value, offset);
  return bytes;
}

describe("a Parakeet model file", () => {
  test.each([
    ["32 bits", 0],
    ["16 bits", 1],
    ["q8_0", 2007],
    ["q5_0", 2008],
    ["q4_0", 2002],
  ])("of weights in %s is accepted if it is complete", (_, weightForm) => {
    expect(refusal(smallParakeet({ ...tinyModel, weightForm }).bytes)).toBe("");
  });

  test("belongs to its family, and a Whisper file does not", () => {
    expect(withFile(model.bytes, familyOf)).toBe(parakeetFamily);
    expect(withFile(smallWhisper().bytes, familyOf)).not.toBe(parakeetFamily);
  });

  test("of version 3's vocabulary has 25 languages; any other has English only", () => {
    const codes = (bytes: Uint8Array) => withFile(bytes, readModelLanguages).map(({ code }) => code);
    expect(codes(model.bytes)).toEqual(["en"]);
    const european = codes(smallParakeet({ ...tinyModel, vocabulary: 8192 }).bytes);
    expect(european).toHaveLength(25);
    expect(european).toEqual(european.toSorted());
    expect(european).not.toContain("ja");
  });

  test.each<[string, number, number, string]>([
    ["no vocabulary", 1, 0, "the size of the vocabulary is 0"],
    ["a vocabulary of another size than its pieces", 1, 1025, "the number of pieces is 1024, not 1025"],
    ["an empty window", 2, 0, "the longest window is 0"],
    ["no heads", 4, 0, "the number of heads is 0"],
    ["heads that do not divide its width", 4, 3, "the width of a head is"],
    ["too many layers", 5, 65, "the number of layers is 65"],
    ["mels of no model", 6, 96, "not a whisper model"],
    ["weights of an unknown form", 7, 12, "weights of form 12 are not supported"],
    ["a negative form", 7, -1, "weights of form -1"],
    ["a transform that is no power of two", 8, 511, "not a whisper model"],
    ["no subsampling", 9, 0, "the subsampling is 0"],
    ["an even kernel", 11, 8, "the width of the layers' convolutions is 8"],
    ["three layers in its predictor", 13, 3, "the number of the predictor's layers is 3"],
    ["a thousand durations", 14, 1000, "the number of durations is 1000"],
    ["endless tokens in a frame", 15, 0, "the number of tokens in a frame is 0"],
    ["filters of another number", 16, 127, "damaged"],
    ["a window longer than its transform", 18, 513, "damaged"],
    ["a negative duration", 20, -1, "a duration is -1, not 0 to 8"],
    ["a duration of 9 frames", 22, 9, "a duration is 9, not 0 to 8"],
    ["a piece of a negative length", 25, -5, "the length of a piece is -5"],
  ])("with %s is refused", (_, index, value, message) => {
    expect(refusal(withNumber(at(index), value))).toContain(message);
  });

  test.each<[string, () => Uint8Array, string]>([
    [
      "a tensor of five dimensions",
      () => withNumber(firstTensor, 5),
      "the number of a tensor's dimensions is 5, not 0 to 4",
    ],
    ["a tensor without a name", () => withNumber(firstTensor + 4, 0), "the length of a tensor's name is 0"],
    ["an unknown element type", () => withNumber(firstTensor + 8, 99), "99 is not an element type of Parakeet models"],
    ["another element type", () => withNumber(firstTensor + 8, 1), "Parakeet"],
    [
      "a tensor twice",
      () => Buffer.concat([model.bytes, model.bytes.subarray(firstTensor, secondTensor)]),
      "occurs twice",
    ],
    [
      "a tensor too few",
      () => Buffer.concat([model.bytes.subarray(0, firstTensor), model.bytes.subarray(secondTensor)]),
      "is missing",
    ],
    ["no tensors", () => model.bytes.subarray(0, firstTensor), "is missing"],
    ["a byte too few", () => model.bytes.subarray(0, -1), "bytes are missing"],
    ["a byte too many", () => Buffer.concat([model.bytes, Buffer.of(0)]), "bytes are missing"],
    ["half of its header", () => model.bytes.subarray(0, 40), "not a whisper model"],
  ])("with %s is refused", (_, bytes, message) => {
    expect(refusal(bytes())).toContain(message);
  });

  test("with a piece that is no text is refused", () => {
    const bytes = Buffer.from(model.bytes);
    bytes[at(25) + 4] = 0xff;
    expect(refusal(bytes)).toContain("the text of piece 0 is not UTF-8");
  });

  test("that never advances is refused", () => {
    const bytes = Buffer.from(model.bytes);
    for (let duration = 0; duration < 5; duration++) bytes.writeInt32LE(0, at(19 + duration));
    expect(refusal(bytes)).toContain("no duration is above 0");
  });
});
