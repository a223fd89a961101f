import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { available, corpusPath, ffmpegPath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { tinyModel, writeRandomModel } from "../../harness/parakeet/random-model.ts";
import { runFfmpeg } from "../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { Chunk, EngineWord } from "../../src/timeline/index.ts";
import { concatenate } from "../../tools/corpus/index.ts";
import { referenceModel } from "../support/parakeet/index.ts";
import { expectedWords } from "./expected-words.ts";

const [german, moreGerman] = [corpusPath("single/de-fleurs-005.ogg"), corpusPath("single/de-fleurs-004.ogg")];
/** Its beginning is long enough. */
const [longJapanese, japaneseSeconds] = [corpusPath("single/ja-fleurs-1837.flac"), 6];

/** Knows 25 languages. Its random words are of Latin letters. */
const model = { ...tinyModel, vocabulary: 8192 };
const pause = { sound: "anullsrc=r=16000:cl=mono", seconds: 2.6 };
const ready = available("e2e tests of two recognizers", ffmpegPath, german, moreGerman, longJapanese);
const startsLikeRandomWords = /^(?:[bdfghklmnprstvwz](?:[aeiouäöüß]|ei)|[\s.,?!'-])+$/i;

describe.if(ready)("a server whose model knows 25 languages and detects none", () => {
  const server = new TestServer();
  const directory = temporaryDirectory();
  const japanese = join(directory.path, "japanese.wav");
  /** A recording in two languages. The pauses separate its chunks. */
  const parts = [german, moreGerman, japanese];
  let key = "";
  /** Returns a client of the present server, whose port changes with each start. */
  const client = () => new TestClient(server.baseUrl, key);
  const textOf = async (path: string, fields = {}) => {
    const { ended, segments } = await client().transcribe(path, fields);
    expect(ended.status).toBe("completed");
    return { language: ended.language, text: segments.map(({ text }) => text).join(" ") };
  };

  beforeAll(async () => {
    await runFfmpeg(["-i", longJapanese, "-t", String(japaneseSeconds), japanese]);
    const path = join(directory.path, "random.bin");
    writeRandomModel(path, model);
    await server.start();
    key = server.client("acme").key;
    for (const args of [
      ["import", path],
      ["use", "random"],
    ]) {
      const { exitCode, stderr } = await server.cli("models", ...args);
      expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
    }
  }, startTimeout);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  test("lists the languages of both recognizers", async () => {
    const { data } = (await (await client().fetch("/languages")).json()) as { data: { code: string }[] };
    const codes = data.map(({ code }) => code);
    expect(codes).toEqual(expect.arrayContaining(["de", "ja", "mt", "zh"]));
    expect(codes).toEqual([...new Set(codes)].sort());
  });

  test("names the model in its metrics, and its author in the API's documentation", async () => {
    const text = await (await fetch(`${server.origin}/openapi.json`)).text();
    const metrics = await (await fetch(`${server.origin}/metrics`)).text();
    expect(metrics).toContain('transcribe_model_info{model="random"} 1');
    expect(text).toContain("Parakeet TDT by NVIDIA, converted to ggml's format; licensed under CC-BY-4.0");
  });

  test(
    "recognizes a language that it knows, and gives others and contradictory words to the built-in model",
    server.showingLog(async () => {
      const [de, ja, ru, pinned] = await Promise.all([
        textOf(german),
        textOf(japanese),
        textOf(german, { language: "ru" }),
        textOf(japanese, { language: "fr" }),
      ]);
      expect(de).toEqual({ language: "de", text: expect.stringMatching(startsLikeRandomWords) });
      expect(ja).toEqual({ language: "ja", text: expect.stringContaining("復興") });
      expect(ru).toEqual({ language: "ru", text: expect.stringMatching(/\p{Script=Cyrillic}{6}/u) });
      expect(pinned).toEqual({ language: "fr", text: expect.stringMatching(startsLikeRandomWords) });
    }),
    240_000,
  );

  test(
    "divides a recording by language, writes the words of the reference, and resumes with the same ones after a kill",
    server.showingLog(async () => {
      const mixed = join(directory.path, "mixed.wav");
      await concatenate(
        parts.flatMap((part) => [part, pause]),
        mixed,
      );
      const { ended, segments } = await client().transcribe(mixed);
      expect(ended).toMatchObject({ status: "completed", language: "de" });
      const { id } = await client().create(mixed);
      await server.until(() => checkpointsOf(id, "transcribe").length > 0, 5);
      await server.killHard();
      const done = checkpointsOf<TranscribedChunk>(id, "transcribe");
      expect(done.length).toBeLessThan(parts.length);
      const chunks = checkpointsOf<{ chunks: Chunk[] }>(id, "plan")[0]?.payload.chunks ?? [];
      expect(chunks).toHaveLength(parts.length);
      const german = done.find(({ payload }) => "de" in payload.languages);
      const pcm = join(server.dataDirectory, "work", id, "audio.pcm");
      const { words, margin } = await expectedWords(referenceModel(model), pcm, chunks[german?.part ?? 0] as Chunk);
      expect(margin).toBeGreaterThan(1e-3);
      expect(words.length).toBeGreaterThan(3);
      expect(german?.payload.words.map(({ probability, ...word }) => word)).toEqual(
        words.map((word) => ({ ...word, isCalibrated: false })),
      );

      await server.start();
      expect(await client().waitUntilEnded(id)).toMatchObject({ status: "completed", language: "de" });
      expect(await client().segments(id)).toEqual(segments);
      const models = [
        { model: "random", parts: parts.length - 1 },
        { model: "whisper-base", parts: 1 },
      ];
      expect(server.log.findLast(({ event }) => event === "recording.completed")).toMatchObject({
        ...{ model: "random", models },
      });
      const { stdout } = await server.cli("recordings", "show", id);
      expect(stdout).toMatch(/^model +random$/m);
      expect(stdout).toMatch(new RegExp(`^parts_by_model +random ${parts.length - 1}, whisper-base 1$`, "m"));
      const metrics = await (await fetch(`${server.origin}/metrics`)).text();
      const counted = [...metrics.matchAll(/^transcribe_recognized_parts_total{.*} (\d+)$/gm)].map(([, n]) =>
        Number(n),
      );
      expect(counted.reduce((sum, each) => sum + each, 0)).toBe(parts.length - done.length);
      const { data } = (await (await client().fetch(`/transcriptions/${id}/segments?words=true`)).json()) as Page;
      const text = (isCalibrated: boolean) =>
        data
          .flatMap((segment) => segment.words)
          .filter(({ calibrated = true }) => calibrated === isCalibrated)
          .map((word) => word.text)
          .join(" ");
      expect(text(true).replaceAll(" ", "")).toContain("復興");
      expect(text(false)).toMatch(startsLikeRandomWords);
      expect(text(false)).toContain(words.map((word) => word.text.trim()).join(" "));
    }),
    240_000,
  );

  /** Returns the stored results of a step. */
  function checkpointsOf<T>(id: string, step: string) {
    using database = new Database(join(server.dataDirectory, "transcribe.db"));
    const rows = database
      .query<{ part: number; payload: string }, [string, string]>(
        "SELECT part, payload FROM checkpoints WHERE recording_id = ? AND step = ? ORDER BY part",
      )
      .all(id, step);
    return rows.map(({ part, payload }) => ({ part, payload: JSON.parse(payload) as T }));
  }
});

interface TranscribedChunk {
  readonly words: readonly EngineWord[];
  readonly languages: Readonly<Record<string, number>>;
}

interface Page {
  readonly data: readonly { readonly words: readonly { readonly text: string; readonly calibrated?: false }[] }[];
}
