import { describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Recording } from "../../src/database/index.ts";
import { chooseLanguage, mostSpoken, partsByLanguage } from "../../src/pipeline/language.ts";
import { spreadOrder } from "../../src/pipeline/vote-language.ts";
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
  /** Whether no chunk may be in another language. */
  readonly isOnly: boolean;
  /** Starts of the chunks whose language was detected for the choice. */
  readonly asked: readonly number[];
  /** The language in which each chunk is transcribed. */
  readonly chunks: readonly string[];
  /** Number of chunks that were checked for transcription. */
  readonly askedAgain: number;
}

/** Chooses the language of consecutive chunks with these probabilities; a chunk is 30 s long by default. */
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
  const model = { id: "m", path: "m", languages: known, encoder: null, companion: null, routes: [] };
  const chosen = await chooseLanguage(context, speech.toReversed(), model);
  const first = [...asked];
  // After a restart nothing is detected again.
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
    ["a greeting in another language at the beginning", [en, en, ...many(20, de)], "de"],
    ["mostly German, in blocks", [...many(9, de), ...many(6, en), ...many(5, de)], "de"],
    ["alternating languages", Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? en : de)), "de"],
    ["alternating languages, the other way round", Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? de : en)), "en"],
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
    ["a language with another code in whisper", many(3, { jw: 0.9, en: 0.1 }), "jv"],
  ])("is the language of most speech: %s", async (_, chunks, language) => {
    expect((await choose(chunks)).language).toBe(language);
  });

  test("is detected in few chunks that agree, in more that disagree, and in a small part of a long recording", async () => {
    expect((await choose(many(1, de))).asked).toEqual([0]);
    expect((await choose(many(60, de))).asked).toHaveLength(5);
    // Unsure, but without an alternative: no second language is spoken.
    expect((await choose(many(60, { en: 0.6, de: 0.1, la: 0.1, jw: 0.1 }))).asked).toHaveLength(5);
    const mixed = Array.from({ length: 60 }, (_, i) => (i % 10 < 3 ? en : de));
    expect(await choose(mixed)).toMatchObject({ language: "de", asked: { length: 25 } });
    expect((await choose(many(2160, de))).asked).toHaveLength(135);
  });

  test("is detected again if an earlier version did not check for other languages", async () => {
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

  test("is detected in long chunks before short ones", async () => {
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

  test("is detected in halves of unsure chunks when no chunks are left, up to the limit", async () => {
    const unsure = { de: 0.4, en: 0.6 };
    expect((await choose([unsure])).asked).toEqual([0, 0, 15]);
    expect((await choose([{ ...unsure, seconds: 3.9 }])).asked).toEqual([0]);
    expect((await choose(many(20, unsure))).asked).toHaveLength(25);
    // A sure chunk is not split.
    expect((await choose([de, en, unsure])).asked).toEqual([30, 0, 60, 60, 75]);
  });

  test("is the pinned one, or the model's only one, without any detection", async () => {
    const chunks = [de, en, de];
    const inEnglish = { language: "en", isOnly: true, asked: [], chunks: ["en", "en", "en"], askedAgain: 0 };
    expect(await choose(chunks, { pinned: "en" })).toEqual(inEnglish);
    expect(await choose(chunks, { known: languages.slice(1, 2) })).toEqual(inEnglish);
  });
});

describe("after transcription, the language of a recording", () => {
  const [german, english] = languages;
  const model = { id: "m", path: "m", languages, encoder: null, companion: null, routes: [] };
  test.each<[string, Record<string, number>[], boolean, string]>([
    ["is the one of most words", [{ de: 5, en: 9 }, { de: 2 }], false, "en"],
    ["is the chosen one if two are equal", [{ en: 3 }, { de: 2 }, { de: 1 }], false, "de"],
    ["is the chosen one without words or counts", [{}, {}], false, "de"],
    ["is the pinned one, whatever the words are in", [{ en: 30 }], true, "de"],
  ])("%s", (_, seconds, isOnly, code) => {
    const chosen = { language: german ?? english, isMixed: false, isOnly } as Parameters<typeof mostSpoken>[1];
    expect(mostSpoken(seconds, chosen, model).code).toBe(code);
  });
});

describe("a chunk", () => {
  test("that is surely in another language is transcribed in that language", async () => {
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

  test("is not checked again in a recording of one language, or of two that whisper confuses", async () => {
    expect((await choose(many(40, de))).askedAgain).toBe(0);
    const known = ["hr", "sr"].map((code) => ({ code, name: code, modelCode: code }));
    const { language, chunks, askedAgain } = await choose([...many(4, { hr: 0.95 }), { sr: 0.95 }], { known });
    expect([language, new Set(chunks), askedAgain]).toEqual(["hr", new Set(["hr"]), 0]);
  });
});

/** Returns a chunk with 6 s of each language and 10 s of silence in between. */
function apart(startSeconds: number, ...codes: readonly string[]): { chunk: Chunk; codes: readonly string[] } {
  const speech = codes.map((_, index) => {
    const from = startSeconds + index * 16;
    return { startSeconds: from, endSeconds: from + 6 };
  });
  return { chunk: { startSeconds, endSeconds: speech.at(-1)?.endSeconds ?? 0, speech }, codes };
}

describe("a chunk whose fragments lie far apart", () => {
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
          // Whisper detects the language in which a window begins.
          const first = all.find(({ span }) => span.startSeconds === chunk.speech[0]?.startSeconds);
          return { probabilities: { [first?.code ?? ""]: 0.98 } };
        },
      },
      signal: new AbortController().signal,
    } as unknown as Parameters<typeof chooseLanguage>[0];
    const model = { id: "m", path: "m", languages, encoder: null, companion: null, routes: [] };
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

  test("is transcribed at once, and checked once, in a recording of one language", async () => {
    const said = Array.from({ length: 6 }, (_, index) => apart(index * 100, "de", "de", "de"));
    expect(await read(...said)).toEqual({
      language: "de",
      parts: said.map(({ chunk }) => [["de", chunk.startSeconds, chunk.endSeconds]]),
      asksToChoose: [3, 3, 3, 3, 3],
      asksToRead: [],
    });
  });

  test("has its later fragments sampled if there are few chunks", async () => {
    const { language, parts, asksToChoose } = await read(apart(0, "de", "de", "en", "de"));
    expect({ language, asksToChoose }).toEqual({ language: "de", asksToChoose: [4, 1, 1, 1] });
    expect(parts[0]?.map(([code]) => code)).toEqual(["de", "en", "de"]);
  });

  test("is checked fragment by fragment in a mixed recording, and neighbours in one language are transcribed together", async () => {
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
