import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { available, ffmpegPath } from "../../../harness/checkout.ts";
import { ApiServer } from "../../support/http.ts";
import {
  ask,
  bodyOf,
  conversation,
  end,
  jfk,
  leftovers,
  nextQueued,
  type Part,
  post,
  transcribe,
  usualParts,
} from "./support.ts";

const ready = available("tests of the answers of OpenAI's audio API", ffmpegPath, jfk);
const wholeText = "Good day. Hello! Bye.";
/** Log probability of the words of the conversation, with four decimals as answers have it. */
const logprob = Math.round(Math.log(0.5) * 10_000) / 10_000;

describe.if(ready)("POST /v1/audio/transcriptions", () => {
  const server = new ApiServer({ recordingsPerAccount: 1000 });
  const client = server.client("first");
  afterAll(() => server[Symbol.dispose]());
  afterEach(() => expect(leftovers(server)).toEqual([]));

  const withFormat = (format: string, ...more: Part[]): Part[] => [
    ...usualParts(),
    ["response_format", format],
    ...more,
  ];

  test("answers json by default, with the text and the charged seconds", async () => {
    const response = await transcribe(server, client, usualParts());
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual({ text: wholeText, usage: { type: "duration", seconds: 33 } });
  });

  test.each([
    ["text", "text/plain; charset=utf-8", `${wholeText}\n`],
    [
      "srt",
      "text/plain; charset=utf-8",
      "1\n00:00:00,500 --> 00:00:01,500\nGood day.\n\n2\n00:00:02,000 --> 00:00:03,000\nHello!\n\n3\n00:00:31,000 --> 00:00:32,000\nBye.\n\n",
    ],
    [
      "vtt",
      "text/vtt; charset=utf-8",
      "WEBVTT\n\n00:00:00.500 --> 00:00:01.500\n<v A>Good day.\n\n00:00:02.000 --> 00:00:03.000\n<v B>Hello!\n\n00:00:31.000 --> 00:00:32.000\n<v A>Bye.\n\n",
    ],
  ])("answers %s as a plain body of %s", async (format, mediaType, body) => {
    const response = await transcribe(server, client, withFormat(format));
    expect(response.headers.get("content-type")).toBe(mediaType);
    expect(response.headers.get("content-disposition")).toBeNull();
    expect(await response.text()).toBe(body);
  });

  test("answers verbose_json with segments whose texts join to the whole text, and with an exact duration", async () => {
    const response = await transcribe(server, client, withFormat("verbose_json"));
    const body = await bodyOf(response);
    expect(body).toMatchObject({ task: "transcribe", language: "english", duration: 32.25, text: wholeText });
    expect(Object.keys(body)).not.toContain("words");
    expect(body.segments.map(({ text }: { text: string }) => text).join("")).toBe(wholeText);
    expect(body.segments[2]).toEqual({
      ...{ id: 2, seek: 3000, start: 31, end: 32, text: " Bye.", tokens: [], temperature: 0, no_speech_prob: 0 },
      ...{ avg_logprob: 0, compression_ratio: expect.any(Number) },
    });
    expect(body.segments[0]?.avg_logprob).toBe(logprob);
  });

  test.each(["timestamp_granularities[]", "timestamp_granularities", "timestamp_granularities[0]"])(
    "answers verbose_json with words, without leading spaces, when %s asks for them",
    async (name) => {
      const response = await transcribe(server, client, withFormat("verbose_json", [name, "word"]));
      const { words } = await bodyOf(response);
      expect(words).toEqual([
        { word: "Good", start: 0.5, end: 0.9 },
        { word: "day.", start: 1, end: 1.4 },
        { word: "Hello!", start: 2, end: 2.4 },
        { word: "Bye.", start: 31, end: 31.4 },
      ]);
    },
  );

  test("accepts both granularities in repeated parts", async () => {
    const both: Part[] = [
      ["timestamp_granularities[]", "word"],
      ["timestamp_granularities[]", "segment"],
    ];
    const body = await bodyOf(await transcribe(server, client, withFormat("verbose_json", ...both)));
    expect([body.words.length, body.segments.length]).toEqual([4, 3]);
  });

  test("answers diarized_json with speakers", async () => {
    const body = await bodyOf(await transcribe(server, client, withFormat("diarized_json")));
    expect(body).toMatchObject({ task: "transcribe", duration: 32.25, text: wholeText });
    expect<unknown>(body.segments[1]).toEqual({
      ...{ type: "transcript.text.segment", id: "seg_1", start: 2, end: 2.5, speaker: "B", text: "Hello!" },
    });
  });

  test("answers json with log probabilities when include asks for them", async () => {
    const body = await bodyOf(await transcribe(server, client, [...usualParts(), ["include[]", "logprobs"]]));
    expect(body.logprobs[0]).toEqual({ token: " Good", logprob, bytes: [32, 71, 111, 111, 100] });
  });

  test.each([
    ["gpt-transcribe", ["de"]],
    ["gpt-transcribe-2026-10-01", ["de"]],
    ["gpt-4o-transcribe", undefined],
  ])("answers json of the model %s with the languages %p", async (model, codes) => {
    const parts: Part[] = [["model", model], ...usualParts().slice(0, 1)];
    const body = await bodyOf(await transcribe(server, client, parts, { language: "de" }));
    expect<unknown>(body.languages).toEqual(codes?.map((code) => ({ code })));
  });

  test("joins the texts of a language without spaces without spaces", async () => {
    const span = { startSeconds: 0, endSeconds: 1, speaker: 0, words: [] };
    const segments = ["今日は。", "元気です𠮷", "辻\u{e0100}", "さん。"].map((text, index) => ({
      ...span,
      index,
      text,
    }));
    const response = await transcribe(server, client, withFormat("text"), { segments, language: "ja" });
    expect(await response.text()).toBe("今日は。元気です𠮷辻\u{e0100}さん。\n");
  });

  test.each([
    ["bn", "bengali"],
    ["de", "german"],
    ["mi", "maori"],
    ["my", "myanmar"],
    ["tl", "tagalog"],
    ["zh", "chinese"],
  ])("names the language %s %s, as Whisper does", async (language, name) => {
    const body = await bodyOf(await transcribe(server, client, withFormat("verbose_json"), { language }));
    expect(body.language).toBe(name);
  });

  test.each(["no_speech", "too_short"] as const)(
    "answers a recording that fails with %s with an empty text",
    async (reason) => {
      for (const [format, empty] of [
        ["text", "\n"],
        ["vtt", "WEBVTT\n\n"],
        ["srt", ""],
      ] as const) {
        const response = await transcribe(server, client, withFormat(format), { failure: { reason } });
        expect([response.status, await response.text()]).toEqual([200, empty]);
      }
      const body = await bodyOf(await transcribe(server, client, withFormat("verbose_json"), { failure: { reason } }));
      expect(body).toMatchObject({ text: "", segments: [] });
    },
  );

  test.each([
    [{ reason: "internal", cause: "engine_crashed" }, 500, "server_error"],
    [{ reason: "internal", cause: "input_unreadable" }, 400, "invalid_request_error"],
    [{ reason: "quota_exceeded" }, 429, "rate_limit_exceeded"],
  ] as const)("answers a recording that fails with %p with %i", async (failure, status, type) => {
    const response = await transcribe(server, client, usualParts(), { failure });
    expect(response.status).toBe(status);
    const { error } = await bodyOf(response);
    expect(error).toMatchObject({ type });
    expect(JSON.stringify(error)).not.toContain("engine");
    if (status === 429) expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("shows in no list what a client waits for", async () => {
    const before = server.queued.length;
    const stop = new AbortController();
    const answer = post(server, client, usualParts(), { signal: stop.signal }).catch(() => null);
    while (server.queued.length === before) await Bun.sleep(2);
    expect((await bodyOf(await client.fetch("/transcriptions"))).data).toEqual([]);
    stop.abort();
    await answer;
    while (leftovers(server).length > 0) await Bun.sleep(2);
  });

  test("has no CORS by default: a pre-flight gets 405 without a key", async () => {
    const response = await fetch(`${server.origin}/v1/audio/transcriptions`, { method: "OPTIONS" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  test("lists the models, with and without the version in the path", async () => {
    const created = 1_700_000_000;
    const models = ["whisper-1", "whisper-base"].map((id) => ({
      id,
      object: "model",
      created,
      owned_by: "transcribe",
    }));
    for (const root of ["/v1", ""]) {
      expect<unknown>(await bodyOf(await ask(server, client, `${root}/models`))).toEqual({
        object: "list",
        data: models,
      });
      for (const model of models) {
        expect<unknown>(await bodyOf(await ask(server, client, `${root}/models/${model.id}`))).toEqual(model);
      }
      const unknown = await ask(server, client, `${root}/models/no%2Fsuch`);
      expect([unknown.status, (await bodyOf(unknown)).error.code]).toEqual([404, "model_not_found"]);
    }
  });
});

describe.if(ready)("POST /v1/audio/translations", () => {
  const server = new ApiServer({ recordingsPerAccount: 1000 });
  const client = server.client("first");
  const path = "/v1/audio/translations";
  afterAll(() => server[Symbol.dispose]());
  afterEach(() => {
    server.translationRefusal = null;
    expect(leftovers(server)).toEqual([]);
  });
  const german = conversation.map((segment) => ({ ...segment, text: "Auf Deutsch." }));
  const translate = async (...more: Part[]) => {
    const before = server.queued.length;
    const answer = post(server, client, [...usualParts(), ...more], { path });
    const id = await nextQueued(server, before);
    expect(server.recordings.get(id)?.isTranslated).toBe(true);
    end(server, id, { segments: german, translation: conversation, language: "de" });
    return await answer;
  };

  test.each([
    ["json", `{"text":"${wholeText}","usage":{"type":"duration","seconds":33}}`],
    ["text", `${wholeText}\n`],
    [
      "srt",
      "1\n00:00:00,500 --> 00:00:01,500\nGood day.\n\n2\n00:00:02,000 --> 00:00:03,000\nHello!\n\n3\n00:00:31,000 --> 00:00:32,000\nBye.\n\n",
    ],
  ])("answers %s in English", async (format, body) => {
    const response = await translate(["response_format", format]);
    expect([response.status, await response.text()]).toEqual([200, body]);
  });

  test("answers verbose_json, diarized_json and vtt in English", async () => {
    const verbose = await bodyOf(
      await translate(["response_format", "verbose_json"], ["timestamp_granularities[]", "word"]),
    );
    expect(verbose).toMatchObject({ task: "translate", language: "english", duration: 32.25, text: wholeText });
    expect(verbose.words.length).toBe(4);
    const diarized = await bodyOf(await translate(["response_format", "diarized_json"]));
    expect(diarized).toMatchObject({ task: "translate", segments: [{ text: "Good day." }, { speaker: "B" }, {}] });
    expect(await (await translate(["response_format", "vtt"])).text()).toContain("<v B>Hello!");
  });

  test("streams the text when it is complete", async () => {
    const text = await (await translate(["stream", "true"])).text();
    const events = text.match(/^data: .*$/gm)?.map((line) => JSON.parse(line.slice("data: ".length))) ?? [];
    const deltas = events.flatMap(({ delta }) => delta ?? []);
    expect(deltas.join("")).toBe(wholeText);
    expect(events.at(-1)).toMatchObject({ type: "transcript.text.done", text: wholeText });
    expect(text).not.toContain("Deutsch");
  });

  test("ends a stream with an error if the standby has not confirmed its recording", async () => {
    let asked = 0;
    server.standby.onConfirm = () => {
      asked += 1;
      server.standby.isThere = asked === 1;
    };
    const before = server.queued.length;
    const answer = post(server, client, [...usualParts(), ["stream", "true"]], { path });
    end(server, await nextQueued(server, before), { segments: german, translation: conversation, language: "de" });
    const text = await (await answer).text();
    server.standby.onConfirm = () => {};
    server.standby.isThere = true;
    const [last = ""] = text.match(/^data: .*$/gm)?.slice(-1) ?? [];
    expect(JSON.parse(last.slice("data: ".length))).toMatchObject({ error: { message: "the standby is away" } });
  });

  test("answers with an empty text without speech", async () => {
    const before = server.queued.length;
    const answer = post(server, client, usualParts(), { path });
    end(server, await nextQueued(server, before), { failure: { reason: "no_speech" } });
    expect(await (await answer).json()).toMatchObject({ text: "" });
  });

  test("refuses a model that does not translate under its name, and an unknown one with 400", async () => {
    server.translationRefusal = "The model large-v3-turbo does not translate. These installed models do: whisper-base.";
    const unable = await post(server, client, usualParts(), { path });
    expect(unable.status).toBe(400);
    expect(await unable.json()).toEqual({
      error: { message: server.translationRefusal, type: "invalid_request_error", param: "model", code: null },
    });
    const probe: Part[] = [
      ["model", "invalid-model"],
      ["file", "a"],
    ];
    const unknown = await post(server, client, probe, { path });
    expect([unknown.status, (await bodyOf(unknown)).error.code]).toEqual([400, "model_not_found"]);
  });
});
