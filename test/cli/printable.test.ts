import { expect, test } from "bun:test";
import { escapedJson, fitted, printable, printableText } from "../../src/cli/printable.ts";

const evil = "a\x1b[31m\r\x00\x7f\x9bK\u202eb\u2028\ud800c";

test("printable text has no control characters of a terminal, and keeps the rest", () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are not allowed
  const steering = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2028\ud800]/;
  for (const shown of [printable(evil), printableText(evil), escapedJson(evil)]) expect(shown).not.toMatch(steering);
  expect(printable("Grüße, 会議 👩‍👩‍👧 مرحبا")).toBe("Grüße, 会議 👩‍👩‍👧 مرحبا");
  expect(printable("a\nb\tc")).not.toMatch(/[\n\t]/);
  expect(printableText("a\r\nb\tc\n")).toBe("a\nb\tc\n");
});

test("escaped JSON parses to the original value, in which no surrogate is alone", () => {
  const value = { text: evil, list: ["\u0085", "line\nline"] };
  expect(JSON.parse(escapedJson(value))).toEqual({ ...value, text: evil.toWellFormed() });
});

test.each([
  ["short", 10, "short"],
  ["longer than that", 8, "longer …"],
  ["会議録音", 5, "会議…"],
  ["👩‍👩‍👧👩‍👩‍👧", 3, "👩‍👩‍👧…"],
  ["x", 0, ""],
])("%p in %p columns is %p", (text, columns, expected) => {
  const shown = fitted(text, columns);
  expect(shown).toBe(expected);
  expect(Bun.stringWidth(shown)).toBeLessThanOrEqual(columns);
});
