import { afterAll, describe, expect, test } from "bun:test";
import { chooseLanguage, partsByLanguage } from "../../src/pipeline/language.ts";
import type { TrackChunk } from "../../src/pipeline/tracks.ts";
import type { Language } from "../../src/speech/index.ts";
import { canTranscribe, openBase, readSamples, threads } from "../support/whisper.ts";

const de = ["single/de-fleurs-005.ogg", "single/de-fleurs-003.ogg"];
const en = "single/en-fleurs-003.ogg";
/** English of four hundred years ago, which base takes for Latin, Hungarian or Italian at first. */
const old = "single/en-libri-2033-164914-0001.flac";

describe.skipIf(!canTranscribe("languages", ...de, en, old))("the real model", () => {
  const state = openBase().createState();
  afterAll(() => state.dispose());
  const languages: Language[] = openBase().languages.map((code) => ({ code, name: code, modelCode: code }));
  const model = { id: "base", path: "base", languages, encoder: null, companion: null, routes: [] };

  /** Returns recordings as chunks of one recording, each in its own file. */
  async function chunksOf(recordings: readonly string[]) {
    const samples = new Map<string, Float32Array>();
    for (const recording of recordings) samples.set(recording, await readSamples(recording));
    const speech = [...samples].map(([path, { length }]): TrackChunk => {
      const span = { startSeconds: 0, endSeconds: length / 16_000 };
      return { area: { directory: "/", pcm: { path, sampleCount: length } }, chunk: { ...span, speech: [span] } };
    });
    const context = {
      recording: { pinnedLanguage: null },
      checkpoints: { read: () => null, write: () => {} },
      engine: {
        partsAtOnce: 1,
        run: async (_operation: string, { area, chunk }: TrackChunk) => {
          const [first, end] = [chunk.startSeconds * 16_000, chunk.endSeconds * 16_000];
          const part = samples.get(area.pcm.path)?.slice(first, end) ?? new Float32Array(0);
          return { probabilities: await state.detectLanguage(part, threads) };
        },
      },
      signal: new AbortController().signal,
    } as unknown as Parameters<typeof chooseLanguage>[0];
    return { context, speech, samples };
  }

  test("gives a recording in two languages the one spoken most, and does not translate the other", async () => {
    const { context, speech, samples } = await chunksOf([de[0] ?? "", en, de[1] ?? ""]);
    const chosen = await chooseLanguage(context, speech, model);
    expect(chosen).toMatchObject({ language: { code: "de" }, isMixed: true });
    const codes: string[] = [];
    for (const chunk of speech) {
      for (const { language } of await partsByLanguage(context, chunk, chosen, model)) codes.push(language.code);
    }
    expect(codes).toEqual(["de", "en", "de"]);
    const options = { threads, withoutTimestamps: true, suppressNonSpeech: true };
    const { segments } = await state.transcribe(samples.get(en) ?? new Float32Array(0), {
      ...options,
      language: codes[1] ?? "",
    });
    const text = segments.map((segment) => segment.text).join("");
    expect(text).toContain("The cabbage juice changes color");
  }, 180_000);

  test("detects in halves the language of a chunk that is unsure as a whole", async () => {
    const { context, speech } = await chunksOf([old]);
    const chosen = await chooseLanguage(context, speech, model);
    expect(chosen).toMatchObject({ language: { code: "en" }, isMixed: false });
  }, 180_000);
});
