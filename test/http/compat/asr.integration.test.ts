import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { available, ffmpegPath } from "../../../harness/checkout.ts";
import { probeRecording } from "../../../src/media/index.ts";
import { ApiServer, type KeyClient } from "../../support/http.ts";
import {
  conversation,
  DISCONNECT_MILLISECONDS,
  end,
  jfk,
  leftovers,
  nextQueued,
  untilNothingIsLeft,
} from "./support.ts";

const ready = available("tests of whisper-asr-webservice's API", ffmpegPath, jfk);

/** Two seconds of samples, as Bazarr extracts them from a film: 16 kHz, 16 bits, mono, without a header. */
const samples = Buffer.from(Int16Array.from({ length: 32_000 }, (_, index) => (index % 97) * 100).buffer);

const basic = (key: string) => `Basic ${Buffer.from(`user:${key}`).toString("base64")}`;

/** Returns the bytes that Bazarr sends: Python's requests with `files={"audio_file": samples}`. */
function bazarr(target: string, authorization: string | null, body: Uint8Array = samples, more = ""): Buffer {
  const boundary = "0a5d4b8a0f2e4b6f9c1d2e3f4a5b6c7d";
  const form = Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="audio_file"; filename="audio_file"\r\n\r\n`),
    body,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  const head =
    `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1:9000\r\nUser-Agent: Subliminal/2.2.1\r\n` +
    "Accept-Encoding: gzip, deflate\r\nAccept: */*\r\nConnection: keep-alive\r\n" +
    `Content-Length: ${form.length}\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\n${more}` +
    `${authorization === null ? "" : `Authorization: ${authorization}\r\n`}\r\n`;
  return Buffer.concat([Buffer.from(head), form]);
}

/** Returns the headers that describe the body of an answer. */
function headersOf({ headers }: Response): Record<string, string> {
  const names = ["content-type", "content-disposition", "asr-engine"];
  return Object.fromEntries([...headers].filter(([name]) => names.includes(name)));
}

const SUBTITLES = "/asr?task=transcribe&language=en&output=srt&encode=false&video_file=Film.mkv";
const DETECT = "/detect-language?encode=false&video_file=Film.mkv";

describe.if(ready)("whisper-asr-webservice's API", () => {
  const server = new ApiServer({ recordingsPerAccount: 1000, uploadBytes: 2_000_000 });
  const client = server.client("first");
  const standard = server.compat;
  afterAll(() => server[Symbol.dispose]());
  afterEach(() => {
    server.compat = standard;
    expect(leftovers(server)).toEqual([]);
  });

  const formOf = (file: Blob, name: string, part = "audio_file") => {
    const body = new FormData();
    body.append(part, file, name);
    return body;
  };
  const post = (
    target: string,
    key: KeyClient | null = client,
    headers: Record<string, string> = {},
    init: RequestInit = {},
  ) => {
    const authorization: Record<string, string> = key === null ? {} : { authorization: basic(key.key) };
    const body = formOf(Bun.file(jfk), "talk.mp3");
    return fetch(`${server.origin}${target}`, {
      ...{ method: "POST", body, headers: { ...authorization, ...headers } },
      ...init,
    });
  };
  const transcribe = async (target: string) => {
    const before = server.queued.length;
    const answer = post(target);
    end(server, await nextQueued(server, before));
    return await answer;
  };
  const reasonOf = async (response: Response) => ({
    status: response.status,
    body: await response.text(),
    code: response.headers.get("x-error-code"),
    message: response.headers.get("x-error-message"),
  });

  test("answers Bazarr's request for subtitles: samples without a header become a WAV file", async () => {
    const before = server.queued.length;
    const answer = server.raw(bazarr(SUBTITLES, basic(client.key)));
    const id = await nextQueued(server, before);
    const path = join(server.dataDirectory.uploads, id);
    expect(await probeRecording(ffmpegPath, path)).toMatchObject({
      ok: true,
      durationSeconds: 2,
      tracks: [{ channels: 1 }],
    });
    expect(readFileSync(path).subarray(44)).toEqual(samples);
    expect(server.recordings.get(id)).toMatchObject({ pinnedLanguage: "en", sizeBytes: samples.length + 44 });
    end(server, id);
    const received = await answer;
    expect(received).toStartWith("HTTP/1.1 200 ");
    expect(received.toLowerCase()).toContain("\r\ncontent-type: text/plain; charset=utf-8\r\n");
    expect(received).toContain("\r\n\r\n1\n00:00:00,500 --> 00:00:01,500\nGood day.\n\n2\n");
  });

  test("answers Bazarr's question for the language, and withdraws the recording before its text", async () => {
    const before = server.queued.length;
    const answer = server.raw(bazarr(DETECT, basic(client.key)));
    const id = await nextQueued(server, before);
    server.events.languageChosen({ id, language: "de", confidence: 0.75 });
    const [head = "", body = ""] = (await answer).split("\r\n\r\n");
    expect(head).toStartWith("HTTP/1.1 200 ");
    expect(JSON.parse(body)).toEqual({ detected_language: "german", language_code: "de", confidence: 0.75 });
    await untilNothingIsLeft(server);
  });

  test("answers the question for the language of silence with an error", async () => {
    const before = server.queued.length;
    const answer = post("/detect-language");
    end(server, await nextQueued(server, before), { failure: { reason: "no_speech" } });
    expect(await reasonOf(await answer)).toMatchObject({
      status: 400,
      body: "",
      message: expect.stringMatching(/no speech/),
    });
  });

  test.each([
    ["", "txt", "Good day. Hello! Bye.\n"],
    ["?output=", "txt", "Good day. Hello! Bye.\n"],
    ["?output=txt", "txt", "Good day. Hello! Bye.\n"],
    ["?output=srt", "srt", "1\n00:00:00,500 --> "],
    ["?output=vtt", "vtt", "WEBVTT\n\n00:00:00.500"],
    ["?output=tsv", "tsv", "start\tend\ttext\n500\t1500\tGood day.\n"],
    ["?output=json", "json", '{"text":"Good day. Hello! Bye."'],
  ])("answers /asr%s with the headers of whisper-asr-webservice, as a %s file", async (query, output, begin) => {
    const response = await transcribe(`/asr${query}`);
    expect([response.status, headersOf(response)]).toEqual([
      200,
      {
        "content-type": "text/plain; charset=utf-8",
        "content-disposition": `attachment; filename="talk.mp3.${output}"`,
        "asr-engine": "openai_whisper",
      },
    ]);
    expect(await response.text()).toStartWith(begin);
  });

  test.each([
    ["my talk.mp3", "my%20talk.mp3.txt"],
    ["Gespräch.wav", "Gespr%C3%A4ch.wav.txt"],
    ["日本語", "%E6%97%A5%E6%9C%AC%E8%AA%9E.txt"],
    ['a"; filename="evil.exe', "a_%3B%20filename%3D_evil.exe.txt"],
    ["a\r\nSet-Cookie: x=y", "aSet-Cookie_%20x%3Dy.txt"],
    ["../../etc/passwd", "passwd.txt"],
    ["it's (1)!*.mp3", "it%27s%20%281%29%21_.mp3.txt"],
    ["\u202egnp.exe", "gnp.exe.txt"],
    ["100%22.mp3", "100_.mp3.txt"],
    ["...", "recording.txt"],
    ["a".repeat(400), `${"a".repeat(180)}.txt`],
  ])("names the file of the recording %p as %s", async (name, encoded) => {
    const before = server.queued.length;
    const answer = post("/asr", client, {}, { body: formOf(Bun.file(jfk), name) });
    end(server, await nextQueued(server, before));
    const response = await answer;
    const header = response.headers.get("content-disposition") ?? "";
    const extended = /^[\w.]+$/.test(encoded) ? "" : `; filename*=UTF-8''${encoded}`;
    expect(header).toBe(`attachment; filename="${encoded}"${extended}`);
    expect(header).toMatch(/^[\x20-\x7e]+$/);
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  test("answers neither errors nor the question for the language with the headers of a file", async () => {
    const before = server.queued.length;
    const language = post("/detect-language");
    const id = await nextQueued(server, before);
    server.events.languageChosen({ id, language: "de", confidence: 0.75 });
    expect(headersOf(await language)).toEqual({ "content-type": "application/json" });
    await untilNothingIsLeft(server);
    for (const target of ["/asr?output=xml", "/asr?language=klingon", "/detect-language?encode=perhaps"]) {
      expect(headersOf(await post(target))).toEqual({});
    }
    for (const path of ["/asr", "/detect-language"]) {
      const other = await fetch(`${server.origin}${path}`, { headers: { authorization: basic(client.key) } });
      expect([other.status, other.headers.get("allow"), headersOf(other)]).toEqual([405, "POST", {}]);
    }
  });

  test("answers in JSON with Whisper's segments, and with words and speakers on request", async () => {
    const bodyOf = async (response: Response) =>
      (await response.json()) as { segments: [Record<string, unknown>, Record<string, unknown>] };
    const plain = await bodyOf(await transcribe("/asr?output=json"));
    expect(plain).toMatchObject({ text: "Good day. Hello! Bye.", language: "en" });
    expect(Object.keys(plain.segments[1])).not.toContain("speaker");
    expect(Object.keys(plain.segments[1])).not.toContain("words");
    const query = "/asr?output=json&word_timestamps=True&diarize=true&min_speakers=1&max_speakers=2&vad_filter=true";
    const full = await bodyOf(await transcribe(query));
    expect(full.segments[1]).toMatchObject({
      ...{ id: 1, start: 2, end: 2.5, text: " Hello!", speaker: "SPEAKER_01" },
      words: [{ word: " Hello!", start: 2, end: 2.4, probability: 0.5 }],
    });
  });

  test.each([
    ["initial_prompt=Zau%20al-Makan&hotwords=Helstone,%20Leverrier", "Zau al-Makan, Helstone, Leverrier"],
    ["initial_prompt=Zau%20al-Makan&hotwords=", "Zau al-Makan"],
    ["hotwords=Helstone", "Helstone"],
    ["initial_prompt=", null],
  ])("passes on the language, the number of speakers, and the terms of %s", async (terms, prompt) => {
    const before = server.queued.length;
    const answer = post(`/asr?language=german&${terms}&min_speakers=2&max_speakers=4&output=srt`);
    const id = await nextQueued(server, before);
    expect(server.recordings.get(id)).toMatchObject({
      ...{ pinnedLanguage: "de", prompt, minSpeakers: 2, maxSpeakers: 4, isTransient: true },
    });
    end(server, id);
    expect((await answer).status).toBe(200);
  });

  test("Bazarr gets English subtitles for a film in another language, and an empty body if the model does not translate", async () => {
    const target = "/asr?task=translate&language=de&output=srt&encode=false&video_file=Film.mkv";
    const before = server.queued.length;
    const body = formOf(new Blob([samples]), "audio_file");
    const answer = post(target, client, {}, { body });
    const id = await nextQueued(server, before);
    expect(server.recordings.get(id)).toMatchObject({ isTranslated: true, pinnedLanguage: "de" });
    const german = conversation.map((segment) => ({ ...segment, text: "Auf Deutsch." }));
    end(server, id, { segments: german, translation: conversation, language: "de" });
    const text = await (await answer).text();
    expect(text).toStartWith("1\n00:00:00,500 --> 00:00:01,500\nGood day.\n");
    expect(text).not.toContain("Deutsch");
    server.translationRefusal = "The model large-v3-turbo does not translate.";
    const refused = await reasonOf(await post(target));
    server.translationRefusal = null;
    expect(refused).toMatchObject({
      status: 400,
      body: "",
      message: "task: The model large-v3-turbo does not translate.",
    });
  });

  test("json of a translation has the English text, and the spoken language as Whisper names it", async () => {
    const before = server.queued.length;
    const answer = post("/asr?task=translate&output=json");
    end(server, await nextQueued(server, before), { translation: conversation.slice(0, 1), language: "de" });
    expect(await (await answer).json()).toMatchObject({
      text: "Good day.",
      language: "de",
      segments: [{ text: "Good day." }],
    });
  });

  test.each([
    ["/asr?task=summarize&output=srt", /task/],
    ["/asr?output=xml", /output/],
    ["/asr?language=klingon", /language/],
    ["/asr?min_speakers=3&max_speakers=2", /min_speakers/],
    ["/asr?diarize=perhaps", /diarize/],
    ["/asr?output=srt&output=vtt", /output/],
  ])("refuses %s with 400, an empty body, and the reason in a header", async (target, message) => {
    expect(await reasonOf(await post(target))).toMatchObject({
      status: 400,
      body: "",
      message: expect.stringMatching(message),
    });
  });

  test("answers a recording that fails, and a body that is no form, with an empty body", async () => {
    const before = server.queued.length;
    const answer = post("/asr?output=srt");
    end(server, await nextQueued(server, before), { failure: { reason: "internal", cause: "engine_crashed" } });
    expect(await reasonOf(await answer)).toMatchObject({ status: 500, body: "" });
    const noForm = await post("/asr", client, { "content-type": "text/plain" }, { body: "x" });
    expect(await reasonOf(noForm)).toMatchObject({
      ...{ status: 415, body: "", message: expect.stringContaining("in the part audio_file") },
    });
    const noFile = await post("/asr", client, {}, { body: formOf(new Blob(["x"]), "x", "file") });
    expect(await reasonOf(noFile)).toMatchObject({
      status: 400,
      body: "",
      message: expect.stringMatching(/audio_file/),
    });
    expect((await fetch(`${server.origin}/asr`, { method: "OPTIONS" })).status).toBe(405);
  });

  test("refuses samples that are too large, and a recording that is sent twice, and keeps nothing of them", async () => {
    const large = await server.raw(bazarr(SUBTITLES, basic(client.key), Buffer.alloc(2_000_001)));
    expect(large).toStartWith("HTTP/1.1 413 ");
    expect(large.split("\r\n\r\n")[1]).toBe("");
    const body = new FormData();
    for (const name of ["a", "b"]) body.append("audio_file", new Blob([samples]), name);
    const twice = await post("/asr?encode=false", client, {}, { body });
    expect(await reasonOf(twice)).toMatchObject({ status: 400, body: "", message: expect.stringMatching(/once/) });
  });

  test("takes a key as password or as bearer token, and refuses everything else with 401", async () => {
    const bearer = { authorization: `Bearer ${client.key}` };
    expect((await post("/asr?output=xml", null, bearer)).status).toBe(400);
    const wrong = [
      {},
      { authorization: "Basic" },
      { authorization: "Basic !!!" },
      { authorization: `Basic ${Buffer.from(client.key).toString("base64")}` },
      { authorization: basic("trs_wrong") },
      { authorization: basic("") },
      { authorization: `Digest ${client.key}` },
    ];
    for (const headers of wrong) {
      const response = await post("/asr", null, headers as Record<string, string>);
      expect(response.headers.get("www-authenticate")).toStartWith("Basic ");
      expect(await reasonOf(response)).toMatchObject({ status: 401, body: "", message: expect.stringMatching(/key/) });
    }
    const reader = server.client("first", { scopes: ["transcriptions:read"] });
    expect(await reasonOf(await post("/asr", reader))).toMatchObject({ status: 403, body: "" });
    expect((await fetch(`${server.baseUrl}/languages`, { headers: { authorization: basic(client.key) } })).status).toBe(
      401,
    );
  });

  test("refuses web pages, which a browser would let use a stored password or the network", async () => {
    server.compat = { ...standard, asr_key_account: "first", asr_networks: ["127.0.0.1"] };
    for (const headers of [{ origin: "https://example.org" }, { "sec-fetch-site": "cross-site" }]) {
      expect(await reasonOf(await post("/asr", client, headers))).toMatchObject({ status: 400, body: "" });
      expect(await reasonOf(await post("/asr", null, headers))).toMatchObject({ status: 400, body: "" });
    }
  });

  test("needs no key from a network of the settings, with the limits of their account", async () => {
    server.compat = { ...standard, asr_key_account: "first", asr_networks: ["127.0.0.0/8"] };
    const before = server.queued.length;
    const answer = server.raw(bazarr(SUBTITLES, null));
    const id = await nextQueued(server, before);
    expect(server.recordings.get(id)).toMatchObject({ accountId: client.accountId, workspaceId: null });
    end(server, id);
    expect(await answer).toStartWith("HTTP/1.1 200 ");
    const wrongKey = { authorization: basic("trs_wrong") };
    expect((await post("/asr", null, wrongKey)).status).toBe(401);
    expect((await fetch(`${server.origin}/v1/models`)).status).toBe(401);
  });

  test.each([
    [{ asr_key_account: "first", asr_networks: ["10.0.0.0/8"] }, ""],
    [{ asr_key_account: "", asr_networks: ["127.0.0.0/8"] }, ""],
    [{ asr_key_account: "nobody", asr_networks: ["127.0.0.0/8"] }, ""],
    [{ asr_key_account: "first", asr_networks: ["10.0.0.0/8"] }, "X-Forwarded-For: 10.0.0.5\r\n"],
    [{ asr_key_account: "first", asr_networks: ["127.0.0.0/8"] }, "X-Forwarded-For: 10.0.0.5\r\n"],
    [{ asr_key_account: "first", asr_networks: ["127.0.0.0/8"] }, "Forwarded: for=127.0.0.1\r\n"],
  ])("needs a key with %p and the header %p", async (compat, header) => {
    server.compat = { ...standard, ...compat };
    const received = await server.raw(bazarr(SUBTITLES, null, samples, header));
    expect(received).toStartWith("HTTP/1.1 401 ");
    expect(received.split("\r\n\r\n")[1]).toBe("");
  });

  test("does not exist unless the settings have it, and even then answers with an empty body", async () => {
    server.compat = { ...standard, asr: false };
    for (const target of ["/asr", "/detect-language"]) {
      expect(await reasonOf(await post(target))).toMatchObject({ status: 404, body: "" });
    }
  });

  test("answers with an empty body under a host name that is not the server's", async () => {
    const headers = { host: "transcribe.example.org" };
    expect(await reasonOf(await post("/asr", client, headers))).toMatchObject({
      ...{ status: 400, body: "", message: expect.stringMatching(/host/i) },
    });
    const model = await fetch(`${server.origin}/v1/models`, { headers });
    expect([model.status, await model.json()]).toMatchObject([400, { error: { type: "invalid_request_error" } }]);
  });

  test("answers a file that is no recording with the name of its part", async () => {
    const answer = await post("/asr", client, {}, { body: formOf(new Blob(["no recording"]), "blob") });
    expect(await reasonOf(answer)).toMatchObject({ status: 400, message: expect.stringMatching(/^audio_file: /) });
  });

  test("cancels a recording at once when its client disconnects", async () => {
    for (const target of ["/asr", "/detect-language"]) {
      const stop = new AbortController();
      const before = server.queued.length;
      const answer = post(target, client, {}, { signal: stop.signal });
      answer.catch(() => {});
      const id = await nextQueued(server, before);
      server.recordings.claim(id);
      stop.abort();
      const since = performance.now();
      await untilNothingIsLeft(server);
      expect(performance.now() - since).toBeLessThan(DISCONNECT_MILLISECONDS);
    }
  });
});

describe.if(ready)("a proxy in front of whisper-asr-webservice's API", () => {
  test("is not itself in a network that needs no key, but its clients may be", async () => {
    using server = new ApiServer({ trustedProxies: ["127.0.0.1"] });
    server.client("first");
    server.compat = { ...server.compat, asr_key_account: "first", asr_networks: ["127.0.0.0/8", "10.0.0.0/8"] };
    for (const header of ["", "Via: 1.1 proxy\r\n", "X-Forwarded-For: 192.0.2.1\r\n", "X-Forwarded-For: x\r\n"]) {
      expect(await server.raw(bazarr(SUBTITLES, null, samples, header))).toStartWith("HTTP/1.1 401 ");
    }
    const answer = server.raw(bazarr(SUBTITLES, null, samples, "X-Forwarded-For: 192.0.2.1, 10.0.0.5\r\n"));
    end(server, await nextQueued(server, 0));
    expect(await answer).toStartWith("HTTP/1.1 200 ");
  });
});
