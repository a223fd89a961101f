import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { available, corpusPath, mediaToolPath, samplePath } from "../../harness/checkout.ts";
import type { TestClient } from "../../harness/client.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { openDatabaseOf } from "../../src/database/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Usage } from "../../src/usage/index.ts";

const jfk = samplePath("jfk.mp3");
const minute = corpusPath("dialogue/dlg-02-2spk-MM.flac");
const ready = available("e2e tests of OpenAI's audio API", jfk, minute, mediaToolPath);

/** The tests run in order on one data directory. */
describe.if(ready)("OpenAI's audio API", () => {
  const server = new TestServer({ TRANSCRIBE_COMPAT_ASR: "true" });
  let client: TestClient;
  beforeAll(async () => {
    await server.start();
    client = server.client("openai");
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  const post = (path: string, fields: Readonly<Record<string, string>> = {}, signal?: AbortSignal) => {
    const body = new FormData();
    for (const [name, value] of Object.entries({ model: "whisper-1", ...fields })) body.append(name, value);
    body.append("file", Bun.file(path));
    const headers = { authorization: `Bearer ${client.key}` };
    const url = `${server.origin}/v1/audio/transcriptions`;
    return fetch(url, { method: "POST", body, headers, ...(signal === undefined ? {} : { signal }) });
  };

  /** Returns what is left: recordings, texts, files and charges. */
  const state = () => {
    const directory = new DataDirectory(server.dataDirectory);
    const store = openDatabaseOf(directory);
    try {
      const accounts = store.$client.query<{ id: string }, []>("SELECT id FROM accounts").all();
      const chargedSeconds = accounts.reduce((sum, { id }) => sum + new Usage(store).audioSeconds(id, Date.now()), 0);
      const rows = store.$client.query("SELECT id FROM recordings UNION SELECT recording_id FROM checkpoints").all();
      const files = ["incoming", "uploads", "work"].flatMap((name) => readdirSync(join(directory.root, name)));
      return { chargedSeconds, left: [...rows, ...files] };
    } finally {
      store.$client.close();
    }
  };
  const isStep = (step: string) => async () => {
    const store = openDatabaseOf(new DataDirectory(server.dataDirectory));
    try {
      return store.$client.query("SELECT id FROM recordings WHERE step = ?").all(step).length > 0;
    } finally {
      store.$client.close();
    }
  };

  test(
    "transcribes jfk.mp3 with words, charges its length, and leaves nothing",
    server.showingLog(async () => {
      const fields = { response_format: "verbose_json", "timestamp_granularities[]": "word" };
      const response = await post(jfk, fields);
      const { text, language, duration, segments, words } = (await response.json()) as Record<string, unknown> & {
        segments: { text: string }[];
        words: { word: string }[];
      };
      expect(text).toContain("ask not what your country can do for you");
      expect({ language, duration }).toEqual({ language: "english", duration: 11 });
      expect(segments.map((segment) => segment.text).join("")).toBe(text as string);
      expect(words.map(({ word }) => word).join(" ")).toBe(text as string);
      expect(state()).toEqual({ chargedSeconds: 11, left: [] });
    }),
    120_000,
  );

  test(
    "streams the text of a recording while it is recognized, and the same text at the end",
    server.showingLog(async () => {
      const response = await post(jfk, { stream: "true", response_format: "diarized_json" });
      const events = (await response.text())
        .split("\n\n")
        .filter((event) => event.startsWith("data: "))
        .map((event) => JSON.parse(event.slice(6)));
      const deltas = events.filter(({ type }) => type === "transcript.text.delta").map(({ delta }) => delta);
      expect(deltas.join("")).toBe(events.at(-1).text);
      expect(events.find(({ type }) => type === "transcript.text.segment")).toMatchObject({ speaker: "A" });
      expect(state().left).toEqual([]);
    }),
    120_000,
  );

  test(
    "answers Bazarr with subtitles and the language of raw samples, and charges only the subtitles",
    server.showingLog(async () => {
      const before = state().chargedSeconds;
      const arguments_ = ["-v", "error", "-i", jfk, "-f", "s16le", "-ac", "1", "-ar", "16000", "-"];
      const samples = await Bun.spawn([mediaToolPath, ...arguments_]).stdout.blob();
      const ask = (target: string) => {
        const body = new FormData();
        body.append("audio_file", samples, "audio_file");
        const authorization = `Basic ${Buffer.from(`user:${client.key}`).toString("base64")}`;
        return fetch(`${server.origin}${target}`, { method: "POST", body, headers: { authorization } });
      };
      const subtitles = await ask("/asr?task=transcribe&language=en&output=srt&encode=false");
      expect(await subtitles.text()).toContain("ask not what your");
      expect(state()).toEqual({ chargedSeconds: before + 11, left: [] });
      const detected = await ask("/detect-language?encode=false");
      expect(await detected.json()).toEqual({
        ...{ detected_language: "english", language_code: "en", confidence: expect.any(Number) },
      });
      await server.until(() => state().left.length === 0, 20);
      expect(state().chargedSeconds).toBe(before + 11);
    }),
    120_000,
  );

  test(
    "cancels a recording within two seconds when its client disconnects, and refunds it",
    server.showingLog(async () => {
      const before = state().chargedSeconds;
      const stop = new AbortController();
      const answer = post(minute, { language: "english" }, stop.signal).catch(() => null);
      await server.until(isStep("transcribe"), 20);
      expect(state().chargedSeconds).toBeGreaterThan(before);
      const since = performance.now();
      stop.abort();
      await answer;
      await server.until(() => state().left.length === 0, 20);
      expect(performance.now() - since).toBeLessThan(2000);
      expect(state().chargedSeconds).toBe(before);
    }),
    120_000,
  );

  test(
    "answers with 503 when the server stops, and leaves nothing",
    server.showingLog(async () => {
      const before = state();
      const answer = post(minute);
      await server.until(isStep("detect"), 20);
      expect(await server.stop()).toBe(0);
      const response = await answer;
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "10"]);
      expect(state()).toEqual(before);
    }),
    120_000,
  );

  test(
    "removes what a killed server has left, refunds it, and does not resume it",
    server.showingLog(async () => {
      const before = state();
      await server.restartOnSamePort();
      const answer = post(minute).catch(() => null);
      await server.until(isStep("detect"), 20);
      await server.killHard();
      await answer;
      expect(state().left).not.toEqual([]);
      await server.start(false);
      expect(state()).toEqual(before);
    }),
    120_000,
  );
});
