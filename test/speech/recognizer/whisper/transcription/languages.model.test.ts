import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { WhisperState } from "../../../../../src/speech/recognizer/whisper/index.ts";
import { transcribeChunk } from "../../../../../src/speech/recognizer/whisper/transcription/transcribe-chunk.ts";
import { canTranscribe, openBase, readSamples, threads } from "../../../../support/whisper.ts";
import { soundAt } from "../../../sound-at.ts";
import { segmentOf, spread, textOf } from "./support.ts";

setDefaultTimeout(240_000);

const german = "Das Wasser fließt seit vielen Jahren durch das Tal.";
const french = "Elle regarde la mer depuis sa fenêtre chaque matin.";
const english = "The other sentence has about as many words.";
const texts: Record<string, string> = { af: german, de: german, en: english, fr: french };

type Said = readonly { readonly language: string; readonly from: number; readonly to: number }[];

/** Returns a state that transcribes, like whisper, only the parts in the given language. */
function stateThatHears(said: Said, confidence = 0.97) {
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
      const heard = inside(samples).parts.filter(({ from, to }) => to - from > 1);
      return Object.fromEntries(heard.map(({ language }) => [language, confidence / heard.length]));
    },
    transcribe: async (samples, { language }) => {
      calls.push(language);
      const { start, parts } = inside(samples);
      const segments = parts
        .filter((part) => part.language === language)
        .map(({ from, to }) => segmentOf(spread(texts[language] ?? "", from - start, to - start)));
      return { aborted: false, segments };
    },
  };
  return { state, calls, samples: all };
}

/** Returns a state that translates, like whisper, with low probabilities, into the given language. */
function stateThatTranslates(spoken: string, confidence: number, right = 0.9) {
  const calls: string[] = [];
  const state: Pick<WhisperState, "transcribe" | "detectLanguage"> = {
    detectLanguage: async () => {
      calls.push("?");
      return { [spoken]: confidence };
    },
    transcribe: async (_, { language }) => {
      calls.push(language);
      const [text, probability] = language === spoken ? [german, right] : [english, 0.5];
      return { aborted: false, segments: [segmentOf(spread(text, 0, 5.5, probability))] };
    },
  };
  return { state, calls };
}

const options = { language: "de", threads: 1, mayChangeLanguage: true } as const;
const de = (from: number, to: number) => ({ language: "de", from, to });
const en = (from: number, to: number) => ({ language: "en", from, to });

describe("a chunk in which the language changes", () => {
  test.each<[string, Said, string]>([
    ["once", [de(0, 4), en(5, 10.5)], `${german} ${english}`],
    ["once, where no pause can be heard", [de(0, 4.8), en(5, 10.5)], `${german} ${english}`],
    ["from another to its own", [en(0, 5), de(6, 10.5)], `${english} ${german}`],
    ["and changes back", [de(0, 4), en(5, 10), de(11, 15.5)], `${german} ${english} ${german}`],
    [
      "to a second one, and a third",
      [de(0, 4), { language: "fr", from: 5, to: 9.5 }, en(10.5, 15)],
      `${german} ${french} ${english}`,
    ],
    ["again and again", [en(0, 5), de(6, 10), en(11, 16), de(17, 21.5)], `${english} ${german} ${english} ${german}`],
  ])("%s is transcribed in each language, in order, without repetitions", async (_, said, text) => {
    const { state, samples } = stateThatHears(said);
    const utterances = await transcribeChunk(state, samples, options);
    expect(textOf(utterances)).toBe(text);
    expect(utterances.map(({ language }) => language)).toEqual(said.map(({ language }) => language));
    for (const [index, { words }] of utterances.entries()) {
      expect(words[0]?.startSeconds).toBeCloseTo(said[index]?.from ?? -1, 2);
      expect(words.at(-1)?.endSeconds).toBeCloseTo(said[index]?.to ?? -1, 2);
    }
  });

  test("for a short sentence is transcribed in each language", async () => {
    const said = [en(0, 3), de(4, 9)];
    const { state, samples } = stateThatHears(said);
    const misplacing: typeof state = {
      ...state,
      transcribe: async (part, how) => {
        const read = await state.transcribe(part, how);
        if (part.length < samples.length) return read;
        return { ...read, segments: [segmentOf([...spread("Das", 1, 2, 0.2), ...spread(german.slice(4), 4.3, 9)])] };
      },
    };
    expect(textOf(await transcribeChunk(misplacing, samples, options))).toBe(`${english} ${german}`);
  });

  test("is transcribed in one language where it may not change", async () => {
    const { state, samples, calls } = stateThatHears([de(0, 4.5), en(5, 10.5)]);
    expect(textOf(await transcribeChunk(state, samples, { ...options, mayChangeLanguage: false }))).toBe(german);
    expect(new Set(calls)).toEqual(new Set(["de"]));
  });

  test("for a few words only is transcribed in one language", async () => {
    const { state, samples, calls } = stateThatHears([de(0, 4.5), en(5, 6.5)]);
    expect(textOf(await transcribeChunk(state, samples, options))).toBe(german);
    expect(new Set(calls)).toEqual(new Set(["de"]));
  });
});

describe("a chunk with doubtful words", () => {
  const samples = soundAt(6, [0, 5.5]);

  test("is transcribed in the language that is sure, not translated", async () => {
    const { state, calls } = stateThatTranslates("de", 0.97);
    const utterances = await transcribeChunk(state, samples, { ...options, language: "en" });
    expect([textOf(utterances), utterances[0]?.language]).toEqual([german, "de"]);
    expect(calls).toEqual(["en", "?", "?", "de"]);
  });

  test("keeps the first transcript where the other is no better", async () => {
    const { state, calls } = stateThatTranslates("de", 0.97, 0.5);
    expect(textOf(await transcribeChunk(state, samples, { ...options, language: "en" }))).toBe(english);
    expect(calls.slice(0, 4)).toEqual(["en", "?", "?", "de"]);
  });

  test("with one doubtful sentence has that one transcribed in its language", async () => {
    const said = [de(0, 5), en(6, 9)];
    const { state, samples: two } = stateThatHears(said);
    const translating: typeof state = {
      ...state,
      transcribe: async (part, how) => {
        const read = await state.transcribe(part, how);
        const isWhole = part.length === two.length;
        const guess = segmentOf(spread("Das ist es also.", 6, 9, 0.4));
        return isWhole ? { ...read, segments: [...read.segments, guess] } : read;
      },
    };
    expect(textOf(await transcribeChunk(translating, two, options))).toBe(`${german} ${english}`);
  });

  test("keeps its transcript where no other language is sure", async () => {
    const { state, calls } = stateThatTranslates("de", 0.85);
    expect(textOf(await transcribeChunk(state, samples, { ...options, language: "en" }))).toBe(english);
    expect(calls.filter((call) => call !== "?")).toEqual(["en"]);
  });
});

test("an aborted chunk starts no detection and no transcription", async () => {
  for (const stopAt of [1, 2, 3]) {
    const { state, samples, calls } = stateThatHears([de(0, 4), en(5, 10.5)]);
    const stopped = new AbortController();
    const stopping = async <T>(answer: Promise<T>) => {
      if (calls.length === stopAt) stopped.abort(new Error("stopped"));
      return answer;
    };
    const stoppable: typeof state = {
      detectLanguage: (...call) => stopping(state.detectLanguage(...call)),
      transcribe: (...call) => stopping(state.transcribe(...call)),
    };
    await expect(transcribeChunk(stoppable, samples, { ...options, signal: stopped.signal })).rejects.toThrow(
      "stopped",
    );
    expect(calls).toHaveLength(stopAt);
  }
});

describe("a chunk in one language", () => {
  test("needs no language detection where words cover all of it", async () => {
    const { state, samples, calls } = stateThatHears([de(0, 4.5), de(5, 10.5)]);
    expect(textOf(await transcribeChunk(state, samples, options))).toBe(`${german} ${german}`);
    expect(calls).toEqual(["de"]);
  });

  test.each([
    ["is not sure", { language: "en", confidence: 0.85 }],
    ["is often taken for its own", { language: "nl", confidence: 0.97 }],
  ])(
    "with a missing sentence is transcribed as before where another language %s",
    async (_, { language, confidence }) => {
      const { state, samples, calls } = stateThatHears(
        [
          { language: "af", from: 0, to: 4.5 },
          { language, from: 5, to: 10.5 },
        ],
        confidence,
      );
      await transcribeChunk(state, samples, { ...options, language: "af" });
      expect(calls.slice(0, 3)).toEqual(["af", "af", "?"]);
      expect(new Set(calls)).toEqual(new Set(["af", "?"]));
    },
  );
});

const fr = "single/fr-fleurs-005.ogg";
const cabbage = "single/en-fleurs-003.ogg";

describe.skipIf(!canTranscribe("languages within a chunk", fr, cabbage))("with the real model", () => {
  let state: WhisperState;
  beforeAll(() => {
    state = openBase().createState();
  });
  afterAll(() => state.dispose());

  test("a French and an English sentence with a gap of 0.3 s are both transcribed in their language", async () => {
    const samples = Float32Array.from([
      ...(await readSamples(fr)),
      ...new Float32Array(4800),
      ...(await readSamples(cabbage)),
    ]);
    const both = textOf(await transcribeChunk(state, samples, { language: "fr", threads, mayChangeLanguage: true }));
    expect(both).toMatch(/contrôle de sa voiture.*cabbage juice changes color/);
  });
});
