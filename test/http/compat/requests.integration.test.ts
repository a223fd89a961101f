import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { available, ffmpegPath } from "../../../harness/checkout.ts";
import { ApiServer } from "../../support/http.ts";
import {
  ask,
  bodyOf,
  end,
  jfk,
  leftovers,
  nextQueued,
  type Part,
  post,
  transcribe,
  untilNothingIsLeft,
  usualParts,
} from "./support.ts";

const ready = available("tests of requests to OpenAI's audio API", ffmpegPath, jfk);

const path = "/v1/audio/transcriptions";
const file = usualParts()[0] as Part;
const model: Part = ["model", "whisper-1"];

describe.if(ready)("a form of POST /v1/audio/transcriptions", () => {
  const server = new ApiServer({ recordingsPerAccount: 1000, uploadBytes: 2_000_000 });
  const client = server.client("first");
  afterAll(() => server[Symbol.dispose]());
  afterEach(() => expect(leftovers(server)).toEqual([]));

  type RawPart = readonly [head: string, value: string | Buffer];

  /** Returns the bytes of a form. */
  function formBytes(parts: readonly RawPart[]): Buffer {
    const pieces = parts.flatMap(([head, value]) => [`--b\r\n${head}\r\n\r\n`, value, "\r\n"]);
    return Buffer.concat([...pieces, "--b--\r\n"].map((piece) => Buffer.from(piece)));
  }

  /** Returns the head of a request with a form. @param length null for a chunked body */
  function headOf(length: number | null, ...more: readonly string[]): string {
    const lines = [
      `POST ${path} HTTP/1.1`,
      "Host: localhost",
      `Authorization: Bearer ${client.key}`,
      "Content-Type: multipart/form-data; boundary=b",
      length === null ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`,
      ...more,
    ];
    return `${lines.join("\r\n")}\r\n\r\n`;
  }

  /** Returns a chunked body of one chunk. */
  const chunked = (body: Buffer) =>
    Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]);

  /** Sends a form byte by byte as given, with or without a Content-Length, and returns the whole answer. */
  async function sendRaw(parts: readonly RawPart[], isChunked: boolean): Promise<string> {
    const body = formBytes(parts);
    const head = Buffer.from(headOf(isChunked ? null : body.length));
    return await server.raw(Buffer.concat([head, isChunked ? chunked(body) : body]));
  }

  /** Sends a form. @returns the recording as it was created, which then ends */
  async function created(parts: readonly Part[]) {
    const before = server.queued.length;
    const answer = post(server, client, parts);
    const id = await nextQueued(server, before);
    const recording = server.recordings.get(id);
    end(server, id);
    expect((await answer).status).toBe(200);
    return { language: recording?.pinnedLanguage ?? null, prompt: recording?.prompt ?? null };
  }

  const bytes = ready ? readFileSync(jfk) : Buffer.alloc(0);
  const modelPart = ['Content-Disposition: form-data; name="model"', "whisper-1"] as const;
  const fileHeads = [
    'Content-Disposition: form-data; name="file"; filename="talk.mp3"\r\nContent-Type: audio/mpeg',
    'Content-Disposition: form-data; name="file"; filename="talk.mp3"',
    'Content-Disposition: form-data; name="file"; filename="file.mp3"\r\nContent-Type: application/octet-stream',
    'Content-Disposition: form-data; name="file"; filename="upload"',
    'Content-Disposition: form-data; name="file"; filename="blob.txt"\r\nContent-Type: text/plain',
    'Content-Disposition: form-data; name="file"',
    "Content-Disposition: form-data; name=file; filename=talk.mp3",
  ];

  test.each(fileHeads)("may have its file in a part with %p, before or after the model", async (fileHead) => {
    for (const isChunked of [false, true]) {
      for (const parts of [
        [[fileHead, bytes], modelPart],
        [modelPart, [fileHead, bytes]],
      ] as RawPart[][]) {
        const before = server.queued.length;
        const answer = sendRaw(parts, isChunked);
        end(server, await nextQueued(server, before));
        expect(await answer).toStartWith("HTTP/1.1 200 ");
      }
    }
  });

  test.each([
    [["language", "de"], "de"],
    [["language", "German"], "de"],
    [["language", "jw"], "jv"],
    [["language", "jv"], "jv"],
    [["language", "en-US"], "en"],
    [["language", "deu"], "de"],
    [["language", ""], null],
    [["language", "auto"], null],
  ] as const)("with %p pins the language %p", async (part, code) => {
    expect((await created([part, ...usualParts()])).language).toBe(code);
  });

  test.each([
    ["languages[]=de", "de"],
    ["languages=German", "de"],
    ["languages[0]=de", "de"],
    ["languages[]=de,de-AT&language=deu", "de"],
    ["languages[]=de&languages[]=en", null],
    ["languages[]=de&language=en", null],
    ["languages[]=", null],
  ])("with the possible languages %p pins the language %p", async (fields, code) => {
    const { language } = await created([...new URLSearchParams(fields), ["model", "gpt-transcribe"], file]);
    expect(language).toBe(code);
  });

  test("uses keywords together with the prompt", async () => {
    const hints: Part[] = [
      ["keywords[]", "Zau al-Makan"],
      ["prompt", "Helstone"],
      ["keywords[]", "Leverrier"],
    ];
    const { prompt } = await created([...hints, ...usualParts()]);
    expect(prompt).toBe("Helstone, Zau al-Makan, Leverrier");
  });

  test.each([
    ["", null],
    ["  \n", null],
    ["...", null],
    ["Zau al-Makan,\r\nHelstone", "Zau al-Makan, Helstone"],
    ["one\u0000two\u2028three", "one two three"],
    [`${"x".repeat(3000)} Leverrier`, `${"x".repeat(1990)} Leverrier`],
  ])("with the prompt %p stores %p", async (prompt, stored) => {
    expect((await created([["prompt", prompt], ...usualParts()])).prompt).toBe(stored);
  });

  test.each(["whisper-base", "gpt-4o-transcribe", "gpt-4o-mini-transcribe-2025-12-15", "whisper-large-v9"])(
    "with the model %p uses the model in use",
    async (name) => {
      expect((await transcribe(server, client, [file, ["model", name]])).status).toBe(200);
    },
  );

  test("may have parts without a meaning, and parts that have no effect", async () => {
    const more: Part[] = [
      ["temperature", "0.7"],
      ["chunking_strategy", "auto"],
      ["chunking_strategy[type]", "server_vad"],
      ["known_speaker_names[]", "Ada"],
      ["stream", "False"],
      ["response_format", ""],
    ];
    expect((await transcribe(server, client, [...more, ...usualParts()])).status).toBe(200);
  });

  test("may have null, as a word, for what is not set", async () => {
    const unset = ["language", "response_format", "stream"].map((name): Part => [name, "null"]);
    const response = await transcribe(server, client, [...usualParts(), ...unset]);
    expect(response.status).toBe(200);
    expect(Object.keys(await bodyOf(response))).toEqual(["text", "usage"]);
  });

  test("may be sent without the version in its path", async () => {
    const before = server.queued.length;
    const answer = post(server, client, usualParts(), { path: "/audio/transcriptions" });
    end(server, await nextQueued(server, before));
    expect((await answer).status).toBe(200);
  });

  test.each(["Content-Length", "Transfer-Encoding"])(
    "of a client that waits for 100 Continue is read when the client continues, with %s",
    async (framing) => {
      const body = formBytes([modelPart, [fileHeads[0] ?? "", bytes]]);
      const isChunked = framing === "Transfer-Encoding";
      const before = server.queued.length;
      const socket = connect(server.port, "127.0.0.1");
      let received = "";
      socket.on("data", (data) => {
        received += data.toString();
      });
      socket.write(headOf(isChunked ? null : body.length, "Expect: 100-continue"));
      while (!received.startsWith("HTTP/1.1 100 ")) await Bun.sleep(2);
      socket.write(isChunked ? chunked(body) : body);
      end(server, await nextQueued(server, before));
      while (!received.includes("Hello!")) await Bun.sleep(2);
      socket.destroy();
      expect(received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
    },
  );

  test("that ends in the middle, because its client disconnects, leaves nothing and gives its turn to the next", async () => {
    using narrow = new ApiServer({ recordingsPerAccount: 1 });
    const other = narrow.client("first");
    const body = formBytes([modelPart, [fileHeads[0] ?? "", bytes]]);
    for (const length of [body.length, null]) {
      const socket = connect(narrow.port, "127.0.0.1");
      const head = headOf(length).replace(client.key, other.key);
      const half = body.subarray(0, body.length / 2);
      socket.write(Buffer.concat([Buffer.from(head), length === null ? chunked(half).subarray(0, -5) : half]));
      while (narrow.filesIn("incoming").length === 0) await Bun.sleep(2);
      const before = narrow.queued.length;
      const answer = post(narrow, other, usualParts());
      socket.destroy();
      end(narrow, await nextQueued(narrow, before));
      expect((await answer).status).toBe(200);
      await untilNothingIsLeft(narrow);
    }
  });

  const refusals: [what: string, parts: Part[], status: number, error: Record<string, unknown>][] = [
    ["no file", [model], 400, { param: "file" }],
    ["no model", [file], 400, { param: "model" }],
    ["an empty model", [file, ["model", ""]], 400, { param: "model" }],
    ["null as a model", [file, ["model", "null"]], 400, { param: "model" }],
    ["an unknown model", [file, ["model", "parakeet-x"]], 404, { param: "model", code: "model_not_found" }],
    ["a path as model", [file, ["model", "/etc/passwd"]], 404, { param: "model", code: "model_not_found" }],
    ["an unknown format", [file, model, ["response_format", "xml"]], 400, { param: "response_format" }],
    ["an unknown language", [file, model, ["language", "klingon"]], 400, { param: "language" }],
    [
      "an unknown language among several",
      [file, model, ["languages[]", "en"], ["languages[]", "klingon"]],
      400,
      { param: "languages" },
    ],
    ["a language that the model lacks", [file, model, ["language", "fr"]], 400, { param: "language" }],
    [
      "an unknown granularity",
      [file, model, ["timestamp_granularities[]", "phone"]],
      400,
      { param: "timestamp_granularities" },
    ],
    [
      "log probabilities of another format",
      [file, model, ["include[]", "logprobs"], ["response_format", "text"]],
      400,
      { param: "include" },
    ],
    ["an unknown inclusion", [file, model, ["include[]", "usage"]], 400, { param: "include" }],
    ["a stream of subtitles", [file, model, ["stream", "true"], ["response_format", "srt"]], 400, { param: "stream" }],
    ["a stream that is no boolean", [file, model, ["stream", "maybe"]], 400, { param: "stream" }],
    ["an empty file", [["file", new Blob([]), "empty.mp3"], model], 400, { param: "file" }],
    ["a text as file", [["file", new Blob(["no sound"]), "talk.mp3"], model], 400, { param: "file" }],
    [
      "a bad file for a stream",
      [["file", new Blob(["no"]), "a.mp3"], model, ["stream", "true"]],
      400,
      { param: "file" },
    ],
    ["two files", [file, file, model], 400, { param: "file" }],
    ["two models", [file, model, model], 400, { param: "model" }],
    ["too large a file", [["file", new Blob([Buffer.alloc(2_000_001)]), "talk.mp3"], model], 413, { param: "file" }],
  ];

  test.each(refusals)("with %s is refused in OpenAI's form", async (_, parts, status, error) => {
    const response = await post(server, client, parts);
    const body = await bodyOf(response);
    expect([response.status, body]).toMatchObject([status, { error: { ...error, type: "invalid_request_error" } }]);
    expect(Object.keys(body.error)).toEqual(["message", "type", "param", "code"]);
  });

  test.each([
    ["raw audio", { "content-type": "audio/mpeg" }, 415],
    ["JSON", { "content-type": "application/json" }, 415],
    ["no content type", {}, 415],
    ["a form without a boundary", { "content-type": "multipart/form-data" }, 400],
    ["a form that is none", { "content-type": "multipart/form-data; boundary=b" }, 400],
  ])("is refused as %s", async (_, headers, status) => {
    const response = await ask(server, client, path, { method: "POST", headers, body: bytes });
    expect([response.status, (await bodyOf(response)).error.type]).toEqual([status, "invalid_request_error"]);
  });

  test.each([
    ["no key", {}],
    ["a wrong key", { authorization: "Bearer trs_wrong" }],
    ["another scheme", { authorization: `Basic ${btoa(`user:${client.key}`)}` }],
  ])("is refused with %s, on every path", async (_, headers) => {
    for (const each of [path, "/audio/transcriptions", "/v1/models", "/models/whisper-1", "/v1/no-such"]) {
      const response = await fetch(server.origin + each, { method: each.includes("models") ? "GET" : "POST", headers });
      const { error } = await bodyOf(response);
      expect<unknown>([each, response.status, error]).toEqual([
        each,
        401,
        { message: expect.any(String), type: "invalid_request_error", param: null, code: "invalid_api_key" },
      ]);
    }
  });

  test.each(["transcriptions:read", "transcriptions:write"] as const)("needs more than the scope %s", async (scope) => {
    const response = await post(server, server.client("scoped", { scopes: [scope] }), usualParts());
    expect([response.status, (await bodyOf(response)).error.code]).toEqual([403, "insufficient_scope"]);
  });

  test("is refused in the own form of this server when the setting is off", async () => {
    server.compat = { ...server.compat, openai: false };
    try {
      for (const [method, each] of [
        ["POST", path],
        ["GET", "/v1/models"],
        ["GET", path],
      ] as const) {
        const response = await ask(server, client, each, { method });
        expect<unknown>([response.status, (await bodyOf(response)).error]).toEqual([404, "not_found"]);
      }
    } finally {
      server.compat = { ...server.compat, openai: true };
    }
  });

  test("of another method or path is refused in OpenAI's form", async () => {
    const wrongMethod = await ask(server, client, path);
    expect([wrongMethod.status, (await bodyOf(wrongMethod)).error.code]).toEqual([405, "method_not_allowed"]);
    const wrongPath = await ask(server, client, "/v1/chat/completions", { method: "POST" });
    expect([wrongPath.status, (await bodyOf(wrongPath)).error.code]).toEqual([404, "not_found"]);
  });

  test("is refused with 429 and Retry-After when the account may create no more recordings", async () => {
    using full = new ApiServer({ limits: { creates_per_hour: 1 } });
    const other = full.client("first");
    expect((await transcribe(full, other, usualParts())).status).toBe(200);
    const response = await post(full, other, usualParts());
    expect([response.status, (await bodyOf(response)).error.type]).toEqual([429, "rate_limit_exceeded"]);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(3000);
    expect(leftovers(full)).toEqual([]);
  });
});
