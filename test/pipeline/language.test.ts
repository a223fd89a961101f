import { describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { chooseLanguage, mostSpoken, partsByLanguage } from "../../src/pipeline/language.ts";
import { spreadOrder } from "../../src/pipeline/vote-language.ts";
import type { Recording } from "../../src/recordings/index.ts";
import type { Language } from "../../src/speech/index.ts";
import type { Chunk, Span } from "../../src/timeline/index.ts";

const area = { directory: "/", pcm: { path: "pcm", sampleCount: 1 } };

const languages: Language[] = ["de", "en", "jv", "la"].map((code) => ({
  code,
  name: code,
  modelCode: code === "jv" ? "jw" : code,
}));

type Heard = Record<string, number>;

interface Chosen {
  readonly language: string;
  /** No chunk may be in another. */
  readonly isOnly: boolean;
  /** Starts of the chunks that were asked for it. */
  readonly asked: readonly number[];
  /** What each chunk is transcribed in. */
  readonly chunks: readonly string[];
  /** How many chunks were asked for that. */
  readonly askedAgain: number;
}

/** Chooses among chunks that follow each other, with what the model hears in each; a chunk is 30 s long unless told. */
async function choose(
  chunks: readonly (Heard & { seconds?: number })[],
  {
    pinned = null,
    known = languages,
    earlier = null,
  }: { pinned?: string | null; known?: Language[]; earlier?: Record<string, unknown> | null } = {},
): Promise<Chosen> {
  const spans: Span[] = [];
  for (const { seconds = 30 } of chunks) {
    const startSeconds = spans.at(-1)?.endSeconds ?? 0;
    spans.push({ startSeconds, endSeconds: startSeconds + seconds });
  }
  const asked: number[] = [];
  const stored = new Map<string, unknown>([["language", earlier]]);
  const context = {
    recording: { pinnedLanguage: pinned } as Recording,
    checkpoints: {
      read: (step: string, _part: number, schema: TSchema) => {
        const payload = stored.get(step);
        return Value.Check(schema, payload) ? payload : null;
      },
      write: (step: string, _part: number, _schema: unknown, payload: unknown) => stored.set(step, payload),
    },
    engine: {
      partsAtOnce: 1,
      run: async (_operation: string, { chunk }: { chunk: Span }) => {
        asked.push(chunk.startSeconds);
        const { seconds: _, ...probabilities } =
          chunks[spans.findIndex(({ endSeconds }) => endSeconds >= chunk.endSeconds)] ?? {};
        return { probabilities };
      },
    },
    signal: new AbortController().signal,
  } as unknown as Parameters<typeof chooseLanguage>[0];
  const speech = spans.map((span) => ({ area, chunk: { ...span, speech: [span] } }));
  const model = { id: "m", path: "m", languages: known, encoder: null };
  const chosen = await chooseLanguage(context, speech.toReversed(), model);
  const first = [...asked];
  // After a restart nothing is asked again.
  expect(await chooseLanguage(context, speech, model)).toEqual(chosen);
  expect(asked).toEqual(first);
  const ofChunks: string[] = [];
  for (const chunk of speech) {
    for (const part of await partsByLanguage(context, chunk, chosen, model)) ofChunks.push(part.language.code);
  }
  const { language, isOnly } = chosen;
  return { language: language.code, isOnly, asked: first, chunks: ofChunks, askedAgain: asked.length - first.length };
}

const many = <T>(count: number, one: T) => Array.from({ length: count }, () => one);
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

  test("is asked of few chunks where they agree, of more where they don't, and of few in a hundred of a long recording", async () => {
    expect((await choose(many(1, de))).asked).toEqual([0]);
    expect((await choose(many(60, de))).asked).toHaveLength(5);
    // Unsure, but with no other in sight: no second language is spoken.
    expect((await choose(many(60, { en: 0.6, de: 0.1, la: 0.1, jw: 0.1 }))).asked).toHaveLength(5);
    const mixed = Array.from({ length: 60 }, (_, i) => (i % 10 < 3 ? en : de));
    expect(await choose(mixed)).toMatchObject({ language: "de", asked: { length: 25 } });
    expect((await choose(many(2160, de))).asked).toHaveLength(135);
  });

  test("is asked again where a version chose it that did not ask whether others are spoken", async () => {
    const mixed = [...many(6, de), ...many(4, en)];
    const after = await choose(mixed, { earlier: { code: "en" } });
    expect(after).toEqual(await choose(mixed));
    expect(after).toMatchObject({ language: "de", chunks: [...many(6, "de"), ...many(4, "en")] });
    expect(await choose(mixed, { earlier: { code: "en", isMixed: false } })).toMatchObject({
      language: "en",
      isOnly: false,
      asked: [],
    });
  });

  test("is asked of what is long enough to tell before what is not", async () => {
    const turns = [
      { ...en, seconds: 0.5 },
      de,
      { ...en, seconds: 0.5 },
      { ...en, seconds: 1 },
      de,
      { ...en, seconds: 0.5 },
    ];
    expect(await choose(turns)).toMatchObject({ language: "de", asked: { length: 5 } });
    expect((await choose(turns)).asked.slice(0, 2).toSorted((a, b) => a - b)).toEqual([0.5, 32]);
    expect((await choose(many(3, { ...en, seconds: 1 }))).language).toBe("en");
  });

  test("is asked of the halves of chunks where there are no more of them and nothing is clear, as often as may be", async () => {
    const unsure = { de: 0.4, en: 0.6 };
    expect((await choose([unsure])).asked).toEqual([0, 0, 15]);
    expect((await choose([{ ...unsure, seconds: 3.9 }])).asked).toEqual([0]);
    expect((await choose(many(20, unsure))).asked).toHaveLength(25);
    // A chunk that is sure is not asked any further.
    expect((await choose([de, en, unsure])).asked).toEqual([30, 0, 60, 60, 75]);
  });

  test("is the pinned one, or the only one that the model knows; nothing is asked, and all chunks are in it", async () => {
    const chunks = [de, en, de];
    const inEnglish = { language: "en", isOnly: true, asked: [], chunks: ["en", "en", "en"], askedAgain: 0 };
    expect(await choose(chunks, { pinned: "en" })).toEqual(inEnglish);
    expect(await choose(chunks, { known: languages.slice(1, 2) })).toEqual(inEnglish);
  });
});

describe("once the words are known, the language of a recording", () => {
  const [german, english] = languages;
  const model = { id: "m", path: "m", languages, encoder: null };
  test.each<[string, Record<string, number>[], boolean, string]>([
    ["is the one that most of them are in", [{ de: 5, en: 9 }, { de: 2 }], false, "en"],
    ["is the one that was chosen, of equals", [{ en: 3 }, { de: 2 }, { de: 1 }], false, "de"],
    ["is the one that was chosen, where there are none, or nobody counted", [{}, {}], false, "de"],
    ["is the pinned one, whatever they are in", [{ en: 30 }], true, "de"],
  ])("%s", (_, seconds, isOnly, code) => {
    const chosen = { language: german ?? english, isMixed: false, isOnly } as Parameters<typeof mostSpoken>[1];
    expect(mostSpoken(seconds, chosen, model).code).toBe(code);
  });
});

describe("a chunk", () => {
  test("that surely is in another language than the recording is transcribed in that one", async () => {
    expect(await choose([de, en, de, { jw: 0.95 }, de])).toMatchObject({
      language: "de",
      chunks: ["de", "en", "de", "jv", "de"],
    });
  });

  test.each<[string, Heard & { seconds?: number }]>([
    ["has both languages", { de: 0.3, en: 0.7 }],
    ["is too short to be sure of", { ...en, seconds: 2 }],
    ["is unsure", { en: 0.6, la: 0.3, de: 0.1 }],
  ])("that %s is transcribed in the recording's language", async (_, chunk) => {
    expect((await choose([de, de, chunk, de, en])).chunks).toEqual(["de", "de", "de", "de", "en"]);
  });

  test("is not asked again where all speak one language, or two that whisper takes for each other", async () => {
    expect((await choose(many(40, de))).askedAgain).toBe(0);
    const known = ["hr", "sr"].map((code) => ({ code, name: code, modelCode: code }));
    const { language, chunks, askedAgain } = await choose([...many(4, { hr: 0.95 }), { sr: 0.95 }], { known });
    expect([language, new Set(chunks), askedAgain]).toEqual(["hr", new Set(["hr"]), 0]);
  });
});

/** A chunk of 6 s for each language, with 10 s of silence between. */
function apart(startSeconds: number, ...codes: readonly string[]): { chunk: Chunk; codes: readonly string[] } {
  const speech = codes.map((_, index) => {
    const from = startSeconds + index * 16;
    return { startSeconds: from, endSeconds: from + 6 };
  });
  return { chunk: { startSeconds, endSeconds: speech.at(-1)?.endSeconds ?? 0, speech }, codes };
}

describe("a chunk of which the pieces lie far apart", () => {
  async function read(...said: ReturnType<typeof apart>[]) {
    const asked: number[] = [];
    const all = said.flatMap(({ chunk, codes }) => chunk.speech.map((span, index) => ({ span, code: codes[index] })));
    const context = {
      recording: { pinnedLanguage: null } as unknown as Recording,
      checkpoints: { read: () => null, write: () => {} },
      engine: {
        partsAtOnce: 1,
        run: async (_operation: string, { chunk }: { chunk: Chunk }) => {
          asked.push(chunk.speech.length);
          // Whisper is sure of the language that a window begins in, whatever comes after it.
          const first = all.find(({ span }) => span.startSeconds === chunk.speech[0]?.startSeconds);
          return { probabilities: { [first?.code ?? ""]: 0.98 } };
        },
      },
      signal: new AbortController().signal,
    } as unknown as Parameters<typeof chooseLanguage>[0];
    const model = { id: "m", path: "m", languages, encoder: null };
    const speech = said.map(({ chunk }) => ({ area, chunk }));
    const chosen = await chooseLanguage(context, speech, model);
    const asksToChoose = asked.splice(0);
    const parts: [string, number, number][][] = [];
    for (const chunk of speech) {
      const of = await partsByLanguage(context, chunk, chosen, model);
      parts.push(of.map((part) => [part.language.code, part.chunk.startSeconds, part.chunk.endSeconds]));
      expect(of.flatMap((part) => part.chunk.speech)).toEqual(chunk.chunk.speech);
    }
    return { language: chosen.language.code, parts, asksToChoose, asksToRead: asked };
  }

  test("is read in one go, and asked once, where one language is spoken", async () => {
    const said = Array.from({ length: 6 }, (_, index) => apart(index * 100, "de", "de", "de"));
    expect(await read(...said)).toEqual({
      language: "de",
      parts: said.map(({ chunk }) => [["de", chunk.startSeconds, chunk.endSeconds]]),
      asksToChoose: [3, 3, 3, 3, 3],
      asksToRead: [],
    });
  });

  test("has later pieces asked, too, where there are few chunks", async () => {
    const { language, parts, asksToChoose } = await read(apart(0, "de", "de", "en", "de"));
    expect({ language, asksToChoose }).toEqual({ language: "de", asksToChoose: [4, 1, 1, 1] });
    expect(parts[0]?.map(([code]) => code)).toEqual(["de", "en", "de"]);
  });

  test("is asked piece by piece where several are, and what is in one language is read in one go", async () => {
    const said = [apart(0, "de", "de", "de", "en"), apart(100, "en", "de", "de", "jw"), apart(200, "de")];
    const { language, parts, asksToRead } = await read(...said);
    expect(language).toBe("de");
    expect(parts).toEqual([
      [
        ["de", 0, 39],
        ["en", 47, 54],
      ],
      [
        ["en", 100, 107],
        ["de", 115, 139],
        ["jv", 147, 154],
      ],
      [["de", 200, 206]],
    ]);
    expect(asksToRead).toEqual(Array.from({ length: 9 }, () => 1));
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
