import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { tinyModel, writeRandomModel } from "../../scripts/support/parakeet/random-model.ts";
import { available, corpusPath } from "../support/checkout.ts";
import { TestClient } from "../support/client.ts";
import { makeRecordingOfChunks, sampleRecordingNeeds } from "../support/sample-recordings.ts";
import { startTimeout, TestServer } from "../support/server.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const recordings = { de: "de-fleurs-001.ogg", ja: "ja-fleurs-1837.flac", ru: "ru-stt.flac" } as const;
const pathOf = (code: keyof typeof recordings) => corpusPath(`single/${recordings[code]}`);
const needs = [...sampleRecordingNeeds, pathOf("de"), pathOf("ja"), pathOf("ru")];
const ready = available("e2e tests of two recognizers", ...needs);

/** Large enough that a recording's chunks take some time. Its random words are of Latin letters. */
const model = { ...tinyModel, vocabulary: 8192, width: 256, layers: 12, channels: 32, weightForm: 1 };
const startsLikeRandomWords = /^(?:[bdfghklmnprstvwz](?:[aeiouäöüß]|ei)|[\s.,?!'-])+$/i;

describe.if(ready)("a server whose model knows 25 languages and detects none", () => {
  const server = new TestServer();
  const directory = temporaryDirectory();
  let key = "";
  /** Returns a client of the present server, whose port changes with each start. */
  const client = () => new TestClient(server.baseUrl, key);
  const textOf = async (path: string, fields = {}) => {
    const { ended, segments } = await client().transcribe(path, fields);
    expect(ended.status).toBe("completed");
    return { language: ended.language, text: segments.map(({ text }) => text).join(" ") };
  };

  beforeAll(async () => {
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

  test("names the author of the installed model in the API's documentation", async () => {
    const text = await (await fetch(`${server.origin}/openapi.json`)).text();
    expect(text).toContain("Parakeet TDT by NVIDIA, converted to ggml's format; licensed under CC-BY-4.0");
  });

  test(
    "recognizes a language that it knows, and gives others and contradictory words to the built-in model",
    server.showingLog(async () => {
      const [de, ja, ru, pinned] = await Promise.all([
        textOf(pathOf("de")),
        textOf(pathOf("ja")),
        textOf(pathOf("ru")),
        textOf(pathOf("ja"), { language: "fr" }),
      ]);
      expect(de).toEqual({ language: "de", text: expect.stringMatching(startsLikeRandomWords) });
      expect(ja).toEqual({ language: "ja", text: expect.stringContaining("復興") });
      expect(ru).toEqual({ language: "ru", text: expect.stringContaining("на его месте") });
      expect(pinned).toEqual({ language: "fr", text: expect.stringMatching(startsLikeRandomWords) });
    }),
    120_000,
  );

  test(
    "resumes with the same words after it is killed",
    server.showingLog(async () => {
      const long = await makeRecordingOfChunks(directory.path, 6);
      const { segments } = await client().transcribe(long, { language: "en" });
      const { id } = await client().create(long, { language: "en" });
      await server.until(() => {
        using database = new Database(join(server.dataDirectory, "transcribe.db"));
        return database.query("SELECT 1 FROM checkpoints WHERE step = 'transcribe'").all().length > 0;
      });
      await server.killHard();
      await server.start();
      expect(await client().waitUntilEnded(id)).toMatchObject({ status: "completed" });
      expect(await client().segments(id)).toEqual(segments);
      expect(segments.length).toBeGreaterThan(3);
    }),
    120_000,
  );
});
