import { expect, test } from "bun:test";
import { available } from "../../../../harness/checkout.ts";
import { temporaryDirectory } from "../../../../harness/temporary-directory.ts";
import { countPromptTokens } from "../../../../src/speech/recognizer/whisper/prompt.ts";
import { basePath } from "../../../support/whisper.ts";

/** A model file as far as its tokens: 2 mel filters of 3 numbers, and these tokens. */
function modelWith(tokens: readonly string[]): Buffer {
  const number = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  };
  const header = Buffer.alloc(48);
  header.writeUInt32LE(0x67676d6c, 0);
  header.writeUInt32LE(51_865, 4);
  const pieces = tokens.flatMap((token) => [number(Buffer.byteLength(token)), Buffer.from(token)]);
  return Buffer.concat([header, number(2), number(3), Buffer.alloc(24), number(tokens.length), ...pieces]);
}

test.each([
  ["ab.", 2],
  // It ends as a sentence, or is ended.
  ["ab", 2],
  ["abab.", 3],
  ["ab ab.", 3],
  // The space and what follows it are looked up together: " ab" is known, " b" is not.
  ["ab b!", 4],
  // Letters, digits and signs are never one token.
  ["ab1ab!", 4],
  ["ü!", 2],
  // Of an unknown character every byte counts.
  ["世。", 6],
  ["", 0],
])("the text %j has %d tokens of a small vocabulary", async (text, count) => {
  using directory = temporaryDirectory();
  const path = `${directory.path}/model`;
  await Bun.write(path, modelWith(["a", "b", "ab", " ab", "ü"]));
  expect(countPromptTokens(path, text)).toBe(count);
});

test("a file that ends in its vocabulary is reported", async () => {
  using directory = temporaryDirectory();
  const path = `${directory.path}/model`;
  const whole = modelWith(["a", "b", "ab"]);
  await Bun.write(path, whole.subarray(0, whole.length - 8));
  expect(() => countPromptTokens(path, "ab")).toThrow(/vocabulary of .* cannot be read/);
});

test.skipIf(!available("tokens of the base model", basePath))("the base model's tokens are read", () => {
  expect(countPromptTokens(basePath, "Hello world")).toBe(3);
  expect(countPromptTokens(basePath, "Hello world, ".repeat(50))).toBeGreaterThan(149);
  expect(countPromptTokens(basePath, "Владивосток")).toBeLessThan(12);
});
