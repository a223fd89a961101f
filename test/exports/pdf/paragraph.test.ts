import { expect, test } from "bun:test";
import { FaceChoice } from "../../../src/exports/pdf/face-choice.ts";
import { layOut, type Paragraph } from "../../../src/exports/pdf/paragraph.ts";
import { Shaper } from "../../../src/exports/pdf/shaper.ts";
import { cleanText } from "../../../src/text/index.ts";
import { hostileTexts, samples } from "../../support/transcripts.ts";

const faces = new FaceChoice(null, "");
const shaper = new Shaper(faces, null);
const color = "0 g";

const layOutText = (text: string, width: number): Paragraph =>
  layOut([{ text, weight: "regular", color }], width, shaper);

/** Returns the text of a paragraph's lines from left to right, decoded by the faces' own codes. */
function shown(paragraph: Paragraph): string[] {
  return paragraph.lines.map((line) =>
    line.parts
      .flatMap((part) => part.runs)
      .map((run) => {
        const codes = [...run.operators.replace(/ActualText<[^>]*>/g, "").matchAll(/<([0-9a-f]+)>/g)].flatMap(
          (match) => (match[1] ?? "").match(/.{4}/g)?.map((code) => Number.parseInt(code, 16)) ?? [],
        );
        return codes.map((code) => run.face.used[code]?.text ?? "?").join("");
      })
      .join(""),
  );
}

const text = "Seven words are enough for two lines";

test("a line contains the words that fit, and the space after them", () => {
  const whole = layOutText(text, 100_000);
  const width = whole.lines[0]?.width ?? 0;
  const halves = layOutText(text, width * 0.6);
  expect(shown(whole)).toEqual([text]);
  expect(shown(halves).join("")).toBe(text);
  expect(halves.lines.length).toBe(2);
  for (const line of halves.lines) expect(line.width).toBeLessThanOrEqual(width * 0.6);
});

test("a word that is longer than a line is split between characters", () => {
  const paragraph = layOutText(`so ${"x".repeat(100)}`, 10_000);
  expect(shown(paragraph).join("")).toBe(`so ${"x".repeat(100)}`);
  for (const line of paragraph.lines) expect(line.width).toBeLessThanOrEqual(10_000);
});

test("right-to-left text runs from the right, with numbers and Latin words in their own order", () => {
  const paragraph = layOutText("שלום 123 abc, עולם", 100_000);
  expect(paragraph.direction).toBe("rtl");
  expect(shown(paragraph)).toEqual(["םלוע ,abc 123 םולש"]);
});

test.each(["😀 שלום", "(1) שלום", "\u200fabc", "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} سلام"])(
  "%p runs from the right, because its first letter or mark does",
  (sample) => {
    expect(layOutText(sample, 100_000).direction).toBe("rtl");
  },
);

test("brackets enclose right-to-left text on both sides", () => {
  expect(shown(layOutText("say (שלום) now", 100_000))).toEqual(["say (םולש) now"]);
});

test("each line is reordered separately", () => {
  const oneLine = layOutText("אחת שתיים", 100_000);
  const lines = layOutText("אחת שתיים", (oneLine.lines[0]?.width ?? 0) * 0.7);
  expect(shown(lines)).toEqual([" תחא", "םייתש"]);
  expect(lines.lines[0]?.leadingSpace).toBeGreaterThan(0);
});

test.each(Object.entries({ ...hostileTexts, ...samples }))(
  "%s: no line is too long, none is endless",
  (_name, texts) => {
    for (const sample of [texts].flat()) {
      const { lines } = layOutText(cleanText(sample), 20_000);
      for (const line of lines) expect(line.width).toBeLessThanOrEqual(20_000);
    }
  },
);
