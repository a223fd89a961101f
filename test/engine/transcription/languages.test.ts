import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { transcribeChunk } from "../../../src/engine/transcription/index.ts";
import type { WhisperState } from "../../../src/engine/whisper/index.ts";
import { soundAt } from "../sound-at.ts";
import { canTranscribe, openBase, readSamples, threads } from "../whisper/support.ts";
import { segmentOf, spread } from "./support.ts";

setDefaultTimeout(240_000);

const german = "Das Wasser fließt seit vielen Jahren durch das Tal.";
const english = "The other sentence has about as many words.";

type Said = readonly { readonly language: string; readonly from: number; readonly to: number }[];

/** Writes like whisper: only what is in the language that it is told, of what lies in the samples. */
function stateThatHears(said: Said, sureness = 0.97) {
  const all = soundAt((said.at(-1)?.to ?? 0) + 0.5, ...said.map(({ from, to }): [number, number] => [from, to]));
  const calls: string[] = [];
  const inside = (samples: Float32Array) => {
    const start = samples.byteOffset / 4 / 16_000;
    const end = start + samples.length / 16_000;
    const parts = said.map((one) => ({ ...one, from: Math.max(one.from, start), to: Math.min(one.to, end) }));
    return { start, parts: parts.filter(({ from, to }) => to - from > 0.1) };
  };
  const state: Pick<WhisperState, "transcribe" | "detectLanguage"> = {
    detectLanguage: async (samples) => {
      calls.push("?");
      const [most] = inside(samples).parts.toSorted((a, b) => b.to - b.from - (a.to - a.from));
      const language = most?.language ?? "en";
      const probabilities = { [language]: sureness, xx: 1 - sureness };
      return { language, probability: sureness, probabilities };
    },
    transcribe: async (samples, { language }) => {
      calls.push(language);
      const { start, parts } = inside(samples);
      const segments = parts
        .filter((part) => part.language === language)
        .map(({ from, to }) => segmentOf(spread(language === "de" ? german : english, from - start, to - start)));
      return { language, aborted: false, segments };
    },
  };
  return { state, calls, samples: all };
}

const textOf = (utterances: { words: { text: string }[] }[]) =>
  utterances
    .flatMap(({ words }) => words.map((word) => word.text))
    .join("")
    .trim();
const options = { language: "de", threads: 1, mayChangeLanguage: true } as const;
const de = (from: number, to: number) => ({ language: "de", from, to });
const en = (from: number, to: number) => ({ language: "en", from, to });

describe("a chunk in which the language changes", () => {
  test.each<[string, Said, string]>([
    ["once", [de(0, 4), en(5, 10.5)], `${german} ${english}`],
    ["once, where no pause can be heard", [de(0, 4.8), en(5, 10.5)], `${german} ${english}`],
    ["from another to its own", [en(0, 5), de(6, 10.5)], `${english} ${german}`],
    ["and changes back", [de(0, 4), en(5, 10), de(11, 15.5)], `${german} ${english} ${german}`],
    ["again and again", [en(0, 5), de(6, 10), en(11, 16), de(17, 21.5)], `${english} ${german} ${english} ${german}`],
  ])("%s is read in each, in order, nothing twice", async (_, said, text) => {
    const { state, samples } = stateThatHears(said);
    const utterances = await transcribeChunk(state, samples, options);
    expect(textOf(utterances)).toBe(text);
    expect(utterances.map(({ language }) => language)).toEqual(said.map(({ language }) => language));
    for (const [index, { words }] of utterances.entries()) {
      expect(words[0]?.startSeconds).toBeCloseTo(said[index]?.from ?? -1, 2);
      expect(words.at(-1)?.endSeconds).toBeCloseTo(said[index]?.to ?? -1, 2);
    }
  });

  test("is read in one where it may not change", async () => {
    const { state, samples, calls } = stateThatHears([de(0, 4.5), en(5, 10.5)]);
    expect(textOf(await transcribeChunk(state, samples, { ...options, mayChangeLanguage: false }))).toBe(german);
    expect(new Set(calls)).toEqual(new Set(["de"]));
  });

  test("but for a few words is read in one", async () => {
    const { state, samples, calls } = stateThatHears([de(0, 4.5), en(5, 6.5)]);
    expect(textOf(await transcribeChunk(state, samples, options))).toBe(german);
    expect(calls).toEqual(["de"]);
  });
});

describe("a chunk in one language", () => {
  test("is not asked for another where words were written for all of it", async () => {
    const { state, samples, calls } = stateThatHears([de(0, 4.5), de(5, 10.5)]);
    expect(textOf(await transcribeChunk(state, samples, options))).toBe(`${german} ${german}`);
    expect(calls).toEqual(["de"]);
  });

  test.each([
    ["is not sure", { language: "en", sureness: 0.85 }],
    ["is often taken for its own", { language: "nl", sureness: 0.97 }],
  ])(
    "of which a sentence was left out is read as before where another language %s",
    async (_, { language, sureness }) => {
      const { state, samples, calls } = stateThatHears(
        [
          { language: "af", from: 0, to: 4.5 },
          { language, from: 5, to: 10.5 },
        ],
        sureness,
      );
      await transcribeChunk(state, samples, { ...options, language: "af" });
      expect(calls.slice(0, 3)).toEqual(["af", "?", "af"]);
      expect(new Set(calls)).toEqual(new Set(["af", "?"]));
    },
  );
});

const fr = "single/fr-leopard.flac";
const cabbage = "single/en-fleurs-003.ogg";
const withNames = "single/de-fleurs-002.ogg";

describe.skipIf(!canTranscribe("languages within a chunk", fr, cabbage, withNames))("with the real model", () => {
  let state: WhisperState;
  beforeAll(() => {
    state = openBase().createState();
  });
  afterAll(() => state.dispose());

  test("a French and an English sentence in one breath are both written, each in its own; in French alone where that is pinned", async () => {
    const parts = [await readSamples(fr), new Float32Array(4800), await readSamples(cabbage)];
    const samples = Float32Array.from(parts.flatMap((part) => [...part]));
    const how = { language: "fr", threads };
    const both = textOf(await transcribeChunk(state, samples, { ...how, mayChangeLanguage: true }));
    expect(both).toMatch(/conseillers? générales?.*cabbage juice changes color/);
    const pinned = textOf(await transcribeChunk(state, samples, how));
    expect(pinned).toMatch(/conseillers? générales?/);
    expect(pinned).not.toMatch(/cabbage|changes/);
  });
});
