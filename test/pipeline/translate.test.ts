import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { mergeTranslations, translate, translatedSegments } from "../../src/pipeline/translate.ts";
import { Checkpoints } from "../../src/recordings/index.ts";
import { packSegment } from "../../src/segments/index.ts";
import type { Language } from "../../src/speech/index.ts";
import type { Chunk, EngineWord } from "../../src/timeline/index.ts";
import { stepContext, storedRecording } from "./step-context.ts";

const languages: Language[] = ["de", "en", "fr"].map((code) => ({ code, name: code, modelCode: code }));
const [german, english] = languages as [Language, Language];
const model = { path: "model", encoder: "encoder.onnx", languages };
const chunkAt = (startSeconds: number): Chunk => {
  const span = { startSeconds, endSeconds: startSeconds + 30 };
  return { ...span, speech: [span] };
};
const word = (text: string, startSeconds: number): EngineWord => ({
  ...{ text: ` ${text}`, startSeconds, endSeconds: startSeconds + 0.5, probability: 0.9 },
});

/** A recording whose chunks have these words and languages. */
function transcribed(...parts: readonly { words: EngineWord[]; languages: Record<string, number> }[]) {
  const stored = storedRecording();
  for (const [part, found] of parts.entries()) stored.checkpoints.write("transcribe", part, Type.Any(), found);
  return stored;
}

const wordsOf = (checkpoints: Checkpoints, part: number) =>
  checkpoints.read("translate", part, Type.Any())?.words.map(({ text }: EngineWord) => text.trim());

test("only chunks with words of other languages are translated, each in its language", async () => {
  const stored = transcribed(
    { words: [word("hallo", 0)], languages: { de: 0.5 } },
    { words: [word("hello", 30)], languages: { en: 0.5 } },
    { words: [], languages: {} },
    // A part that was detected as English has words of another language as well.
    { words: [word("now", 90), word("bonjour", 91)], languages: { en: 0.5, fr: 0.5 } },
  );
  const asked: unknown[] = [];
  const run = async (operation: string, { chunk, language, model: path, encoder }: Record<string, unknown>) => {
    asked.push([operation, (chunk as Chunk).startSeconds, language, path, encoder]);
    return { words: [word(`translated ${language}`, 0)] };
  };
  const partsOf = async ({ chunk }: { chunk: Chunk }) => [
    { chunk, language: chunk.startSeconds < 90 ? german : english },
  ];
  await translate(stepContext(stored, run), [0, 30, 60, 90].map(chunkAt), { model, partsOf });
  expect(asked).toEqual([
    ["translate", 0, "de", "model", "encoder.onnx"],
    ["translate", 90, "fr", "model", "encoder.onnx"],
  ]);
  expect([0, 1, 2, 3].map((part) => wordsOf(stored.checkpoints, part))).toEqual([
    ["translated de"],
    ["hello"],
    [],
    ["translated fr"],
  ]);
});

test("an English part of a chunk keeps its words, and the other parts are translated", async () => {
  const stored = transcribed({ words: [word("hallo", 1), word("hello", 16)], languages: { de: 0.5, en: 0.5 } });
  const half = (startSeconds: number): Chunk => {
    const span = { startSeconds, endSeconds: startSeconds + 15 };
    return { ...span, speech: [span] };
  };
  const run = async () => ({ words: [word("good day", 1)] });
  const partsOf = async () => [
    { chunk: half(0), language: german },
    // Without other words in it, the part would be copied; here German words are known, so the whole part is translated.
    { chunk: half(15), language: english },
  ];
  await translate(stepContext(stored, run), [chunkAt(0)], { model, partsOf });
  expect(wordsOf(stored.checkpoints, 0)).toEqual(["good day", "good day"]);
});

test("after an interruption, only the missing chunks are translated", async () => {
  const german = { words: [word("hallo", 0)], languages: { de: 0.5 } };
  const stored = transcribed(german, german, german);
  const asked: number[] = [];
  const translateUntil = (interruptAt: number) => {
    const run = async (_: string, { chunk }: { chunk: Chunk }) => {
      if (chunk.startSeconds === interruptAt) throw new Error("interrupted");
      asked.push(chunk.startSeconds);
      return { words: [word("hello", chunk.startSeconds)] };
    };
    const checkpoints = new Checkpoints(stored.store, stored.id);
    const partsOf = async ({ chunk }: { chunk: Chunk }) => [{ chunk, language: languages[0] as Language }];
    return translate(stepContext({ ...stored, checkpoints }, run), [0, 30, 60].map(chunkAt), { model, partsOf });
  };
  await expect(translateUntil(60)).rejects.toThrow("interrupted");
  await translateUntil(-1);
  expect(asked).toEqual([0, 30, 60]);
});

test("the words of a translation belong to the speakers of the transcript at their times", async () => {
  const stored = storedRecording();
  const words = ["Good", "day.", "And", "to", "you."].map((text, index) => word(text, index * 0.7));
  stored.checkpoints.write("translate", 0, Type.Any(), { words });
  const spoken = (index: number, startSeconds: number, endSeconds: number) =>
    packSegment({ index, startSeconds, endSeconds, speaker: index, text: "x", words: [] });
  const transcript = [spoken(0, 0, 1.3), spoken(1, 1.35, 4)];
  const segments = await translatedSegments(stepContext(stored), [chunkAt(0)], transcript);
  expect(segments.map(({ speaker, text }) => [speaker, text])).toEqual([
    [0, "Good day."],
    [1, "And to you."],
  ]);
  expect(await translatedSegments(stepContext(stored), [chunkAt(0)], [])).toEqual([]);
});

test("the translations of two tracks are merged in order, with the numbers that the transcript gives their speakers", () => {
  const said = (startSeconds: number, speaker: number, text: string) =>
    packSegment({ index: 0, startSeconds, endSeconds: startSeconds + 1, speaker, text, words: [] });
  const numbers = [new Map([[0, 1]]), new Map([[0, 0]])];
  const merged = mergeTranslations([[said(3, 0, "second")], [said(1, 0, "first"), said(5, 0, "third")]], numbers);
  expect(merged.map(({ index, speaker, text }) => [index, speaker, text])).toEqual([
    [0, 0, "first"],
    [1, 1, "second"],
    [2, 0, "third"],
  ]);
});
