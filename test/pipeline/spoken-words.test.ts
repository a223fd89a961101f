import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { assignSpeakers } from "../../src/pipeline/assign-speakers.ts";
import { fitWords } from "../../src/pipeline/fit-to-turns.ts";
import { spokenWords, wordSpans } from "../../src/pipeline/spoken-words.ts";
import type { Chunk, EngineWord, Turn } from "../../src/timeline/index.ts";
import { turn } from "../support/spans.ts";
import { stepContext, storedRecording } from "./step-context.ts";
import { wordsFrom } from "./words.ts";

/** Returns a recording whose chunks contain these words. */
function transcribed(words: readonly (readonly EngineWord[])[]) {
  const stored = storedRecording();
  const { checkpoints } = stored;
  for (const [part, own] of words.entries()) checkpoints.write("transcribe", part, Type.Any(), { words: own });
  const chunks: Chunk[] = words.map((_, part) => ({ startSeconds: part * 30, endSeconds: part * 30 + 30, speech: [] }));
  const context = stepContext(stored);
  return { checkpoints, chunks, signal: context.signal, context };
}

const sentence = "And this is what they said to each other then.";
const lengthOf = (words: readonly EngineWord[]) => (words.at(-1)?.endSeconds ?? 0) - (words[0]?.startSeconds ?? 0);

/** Returns chunks of 30 s with pauses of these lengths between them. */
const hourOfChunks = (pauseAfter: (part: number) => number) =>
  Array.from({ length: 120 }, (_, part) => wordsFrom(part * 30, sentence, (30 - pauseAfter(part)) / 10));

const everyThirdIsEmpty = hourOfChunks(() => 4).map((words, part) => (part % 3 ? words : []));

describe("the words of an hour", () => {
  test.each([
    ["words with occasional long pauses", hourOfChunks((part) => (part % 7 === 6 ? 4 : 0.5)), 600, 850],
    ["words without a long pause", hourOfChunks((part) => (part % 7 === 6 ? 1 : 0.5)), 600, 1230],
    ["words with empty chunks in between", everyThirdIsEmpty, 600, 700],
  ])("%s are yielded completely and in order, in spans that end in pauses", async (_, words, least, most) => {
    const { checkpoints, chunks, signal } = transcribed(words);
    const found = await Array.fromAsync(wordSpans(checkpoints, chunks, signal));
    expect(found.flat()).toEqual(words.flat());
    for (const one of found.slice(0, -1)) {
      expect(lengthOf(one)).toBeGreaterThan(least);
      expect(lengthOf(one)).toBeLessThan(most);
    }
    const pauses = found
      .slice(1)
      .map((one, index) => (one[0]?.startSeconds ?? 0) - (found[index]?.at(-1)?.endSeconds ?? 0));
    const longest = Math.max(
      ...words.flat().map((word, index, all) => word.startSeconds - (all[index - 1]?.endSeconds ?? word.startSeconds)),
    );
    for (const pause of pauses) expect(pause).toBeGreaterThan(Math.min(3, longest) - 1e-6);
  });

  test("are read while yielding to the event loop, and stop after an abort", async () => {
    const { checkpoints, chunks } = transcribed(hourOfChunks(() => 4));
    const controller = new AbortController();
    let turns = 0;
    const other = setInterval(() => {
      turns++;
      controller.abort(new Error("stopped"));
    });
    const read = async () => {
      let count = 0;
      for await (const _ of wordSpans(checkpoints, chunks, controller.signal)) {
        count++;
        Bun.sleepSync(5);
      }
      return count;
    };
    await expect(read()).rejects.toThrow("stopped");
    clearInterval(other);
    expect(turns).toBeGreaterThan(0);
  });

  test("have the same speakers and times as without spans", async () => {
    const random = randomNumbers(3);
    const turns: Turn[] = [];
    const words: EngineWord[][] = [];
    for (let part = 0; part < 240; part++) {
      const own: EngineWord[] = [];
      for (let at = part * 30 + 0.5; at < part * 30 + 23; ) {
        const said = wordsFrom(at, sentence).slice(0, 3 + Math.floor(random() * 7));
        own.push(...said);
        const endSeconds = at + said.length * 0.3;
        turns.push(turn(at - 0.2 + random() * 0.4, endSeconds + random() * 0.3, Math.floor(random() * 5)));
        at = endSeconds + random();
      }
      words.push(own);
    }
    turns.sort((a, b) => a.startSeconds - b.startSeconds);
    const { chunks, context } = transcribed(words);
    const found = await Array.fromAsync(spokenWords(context, chunks, turns, turns));
    expect(found.length).toBeGreaterThan(5);
    expect(found.flat()).toEqual(assignSpeakers(fitWords(words.flat(), turns), turns));
  });

  test("far from all turns go to the nearest turn's speaker", async () => {
    const { chunks, context } = transcribed([wordsFrom(0, sentence), wordsFrom(500, sentence)]);
    const turns = [turn(1000, 1001, 1), turn(4000, 4001, 0)];
    const found = await Array.fromAsync(spokenWords(context, chunks, turns, turns));
    expect(new Set(found.flat().map(({ speaker }) => speaker))).toEqual(new Set([1]));
  });
});
