import { describe, expect, test } from "bun:test";
import type { Language, Span } from "../../src/engine/index.ts";
import { chooseLanguage, spreadOrder } from "../../src/pipeline/language.ts";
import type { Recording } from "../../src/transcriptions/index.ts";

const languages: Language[] = ["de", "en", "jv", "la"].map((code) => ({
  code,
  name: code,
  whisperCode: code === "jv" ? "jw" : code,
}));

type Heard = Record<string, number>;

interface Asked {
  readonly language: string;
  /** Starts of the chunks that were asked, in order. */
  readonly asked: number[];
}

/** Chooses among chunks that follow each other, with what the model hears in each; a chunk is 30 s long unless told. */
async function choose(
  chunks: readonly (Heard & { seconds?: number })[],
  { pinned = null, known = languages }: { pinned?: string | null; known?: Language[] } = {},
): Promise<Asked> {
  const spans: Span[] = [];
  for (const { seconds = 30 } of chunks) {
    const startSeconds = spans.at(-1)?.endSeconds ?? 0;
    spans.push({ startSeconds, endSeconds: startSeconds + seconds });
  }
  const asked: number[] = [];
  const stored = new Map<string, unknown>();
  const context = {
    recording: { pinnedLanguage: pinned } as Recording,
    checkpoints: {
      read: (step: string) => stored.get(step) ?? null,
      write: (step: string, _part: number, _schema: unknown, payload: unknown) => stored.set(step, payload),
    },
    engine: {
      run: async (_operation: string, { span }: { span: Span }) => {
        asked.push(span.startSeconds);
        const { seconds: _, ...probabilities } = chunks[spans.indexOf(span)] ?? {};
        return { probabilities };
      },
    },
    signal: new AbortController().signal,
  } as unknown as Parameters<typeof chooseLanguage>[0];
  const speech = spans.map((span) => ({ pcm: { path: "pcm", sampleCount: 1 }, span }));
  const model = { id: "m", path: "m", languages: known };
  const { code } = await chooseLanguage(context, speech.toReversed(), model);
  const before = asked.length;
  // After a restart nothing is asked again.
  expect((await chooseLanguage(context, speech, model)).code).toBe(code);
  expect(asked.length).toBe(before);
  return { language: code, asked };
}

const many = (count: number, heard: Heard) => Array.from({ length: count }, () => heard);
const de = { de: 0.97, en: 0.03 };
const en = { en: 0.98, de: 0.02 };

describe("the language of a recording", () => {
  test.each<[string, (Heard & { seconds?: number })[], string]>([
    ["a greeting in another language at its beginning", [en, en, ...many(20, de)], "de"],
    ["most of it German, in blocks", [...many(9, de), ...many(6, en), ...many(5, de)], "de"],
    ["languages in turns", Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? en : de)), "de"],
    ["languages in turns, the other way round", Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? de : en)), "en"],
    ["one long chunk against two short ones", [{ ...de, seconds: 28 }, ...many(2, { ...en, seconds: 5 })], "de"],
    [
      "chunks that are unsure, and unsure about different languages",
      [
        { de: 0.4, la: 0.6 },
        { de: 0.5, jw: 0.5 },
        { de: 0.4, en: 0.6 },
      ],
      "de",
    ],
    ["a language that whisper calls otherwise", many(3, { jw: 0.9, en: 0.1 }), "jv"],
  ])("%s: what most of its speech is in", async (_, chunks, language) => {
    expect((await choose(chunks)).language).toBe(language);
  });

  test("is asked of few chunks where they agree, of more where they don't, and never of all of a long recording", async () => {
    expect((await choose(many(1, de))).asked).toEqual([0]);
    expect((await choose(many(2000, de))).asked).toHaveLength(5);
    // Unsure, but with no other in sight: no second language is spoken.
    expect((await choose(many(2000, { en: 0.6, de: 0.1, la: 0.1, jw: 0.1 }))).asked).toHaveLength(5);
    const mixed = Array.from({ length: 2000 }, (_, i) => (i % 10 < 3 ? en : de));
    const { language, asked } = await choose(mixed);
    expect([language, asked.length]).toEqual(["de", 25]);
    // What three of five say, the other two can't change.
    expect((await choose(many(5, de))).asked).toHaveLength(3);
  });

  test("is the pinned one, or the only one that the model knows, and nothing is asked", async () => {
    expect(await choose(many(3, de), { pinned: "en" })).toEqual({ language: "en", asked: [] });
    expect(await choose(many(3, de), { known: languages.slice(1, 2) })).toEqual({ language: "en", asked: [] });
  });
});

test.each([0, 1, 2, 7, 100, 2160])(
  "of %d chunks each has its place in the order, and no beginning leaves a gap",
  (count) => {
    const order = spreadOrder(count);
    expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => index));
    for (const first of [5, 25].filter((some) => some < count)) {
      const places = [0, ...order.slice(0, first).toSorted((a, b) => a - b), count];
      const gaps = places.slice(1).map((place, index) => place - (places[index] ?? 0));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(Math.ceil((2.5 * count) / first));
    }
  },
);
