import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { available, ffmpegPath } from "../../../harness/checkout.ts";
import { ApiServer } from "../../support/http.ts";
import { end, jfk, leftovers, nextQueued } from "./support.ts";

const ready = available("tests with the requests of OpenAI's clients", ffmpegPath, jfk);
const sound = ready ? readFileSync(jfk) : Buffer.alloc(0);

/** A part of a form as a client writes it: the header of the part, and its value. */
type RawPart = readonly [head: string, value: string | Buffer];

const field = (name: string, value: string): RawPart => [`Content-Disposition: form-data; name="${name}"`, value];
const file = (fileName: string, contentType?: string): RawPart => [
  `Content-Disposition: form-data; name="file"; filename="${fileName}"${contentType === undefined ? "" : `\r\nContent-Type: ${contentType}`}`,
  sound,
];

interface ClientRequest {
  readonly client: string;
  readonly path?: string;
  readonly headers: readonly string[];
  readonly parts: readonly RawPart[];
  /** How a body without Content-Length is divided: inside the recording, or at the boundaries, heads and values of parts. */
  readonly chunks?: "halves" | "pieces";
  /** Text that the body of the answer contains; the whole transcript by default. */
  readonly contains?: string;
  /** JSON by default. */
  readonly contentType?: string;
  /** What the recording has. */
  readonly recording?: Record<string, unknown>;
}

/** The names and the order of the fields are those of each program. The versions in the headers are examples. */
const requests: readonly ClientRequest[] = [
  {
    client: "Open WebUI: aiohttp, model before file, language at the end",
    headers: ["Accept: */*", "Accept-Encoding: gzip, deflate", "User-Agent: Python/3.11 aiohttp/3.12.15"],
    parts: [field("model", "whisper-1"), file("3f0a.mp3", "audio/mpeg"), field("language", "en")],
    recording: { pinnedLanguage: "en" },
  },
  {
    client: "Nextcloud: always file.mp3, waits for verbose_json",
    headers: ["User-Agent: Nextcloud OpenAI/LocalAI integration"],
    parts: [field("model", "whisper-1"), file("file.mp3", "audio/mpeg"), field("response_format", "verbose_json")],
  },
  {
    client: "n8n: axios with form-data, chunked",
    headers: [
      "Accept: application/json,text/html,application/xhtml+xml,application/xml,text/*;q=0.9",
      "User-Agent: axios/1.8.3",
    ],
    parts: [
      field("model", "whisper-1"),
      file("voice.ogg", "audio/ogg"),
      field("language", ""),
      field("temperature", "0"),
    ],
    chunks: "halves",
    recording: { pinnedLanguage: null },
  },
  {
    client: "Home Assistant: WAV as audio.wav, prompt and temperature",
    headers: ["Accept: application/json", "Accept-Encoding: gzip, deflate", "User-Agent: HomeAssistant/2026.11"],
    parts: [
      field("language", "de"),
      field("model", "gpt-4o-mini-transcribe-2025-12-15"),
      field("prompt", ""),
      field("response_format", "json"),
      field("temperature", "0"),
      file("audio.wav", "audio/wav"),
    ],
    recording: { pinnedLanguage: "de", prompt: null },
  },
  {
    client: "LibreChat: axios, file before model",
    headers: ["Accept: application/json, text/plain, */*", "User-Agent: axios/1.12.1"],
    parts: [file("audio.webm", "audio/webm"), field("model", "whisper-1")],
  },
  {
    client: "Obsidian's Whisper plugin: file first, empty prompt",
    headers: ["Accept: application/json, text/plain, */*", "User-Agent: Mozilla/5.0 obsidian/1.10.3 Electron/37.3.1"],
    parts: [
      file("2026-11-23.webm", "audio/webm"),
      field("model", "whisper-1"),
      field("language", "en"),
      field("prompt", ""),
    ],
  },
  {
    client: "openai-node with a stream: chunked body, file first, server-sent events",
    headers: [
      "Accept: application/json",
      "User-Agent: OpenAI/JS 6.9.1",
      "X-Stainless-Lang: js",
      "X-Stainless-Retry-Count: 0",
    ],
    parts: [
      file("upload", "application/octet-stream"),
      field("model", "gpt-4o-transcribe"),
      field("stream", "true"),
      field("include[]", "logprobs"),
    ],
    chunks: "halves",
    contains: 'data: {"type":"transcript.text.done","text":"Good day. Hello! Bye."',
    contentType: "text/event-stream; charset=utf-8",
  },
  {
    client: "openai-node with a stream without a name: a chunk for each boundary, head and value",
    headers: ["Accept: application/json", "User-Agent: OpenAI/JS 7.57.0", "Sec-Fetch-Mode: cors"],
    parts: [
      file("unknown_file", "application/octet-stream"),
      field("model", "whisper-1"),
      field("response_format", "verbose_json"),
      field("timestamp_granularities[]", "word"),
    ],
    chunks: "pieces",
    contains: '"words":[{"word":"Good","start":0.5,"end":0.9}',
  },
  {
    client: "the Vercel AI SDK before version 7: verbose_json of the diarize model, arrays with brackets",
    headers: ["User-Agent: ai/6.0.0 ai-sdk/openai/3.0.0 runtime/node.js/24"],
    parts: [
      field("model", "gpt-4o-transcribe-diarize"),
      file("audio.mp3", "audio/mpeg"),
      field("response_format", "verbose_json"),
      field("temperature", "0"),
      field("timestamp_granularities[]", "segment"),
      field("timestamp_granularities[]", "word"),
    ],
    contains: '"words":[{"word":"Good","start":0.5,"end":0.9}',
  },
  {
    client: "LiteLLM: verbose_json by default",
    headers: ["Accept: application/json", "User-Agent: OpenAI/Python 2.54.0", "X-Stainless-Lang: python"],
    parts: [field("model", "whisper-1"), field("response_format", "verbose_json"), file("gettysburg.wav")],
    contains: '"language":"english"',
  },
  {
    client: "LiteLLM with a file of unknown length: chunked, all fields before the file",
    headers: ["Accept: application/json", "User-Agent: AsyncOpenAI/Python 3.57.0", "X-Stainless-Async: async:asyncio"],
    parts: [
      field("model", "whisper-1"),
      field("response_format", "verbose_json"),
      field("timestamp_granularities[]", "word"),
      file("upload", "application/octet-stream"),
    ],
    chunks: "halves",
    contains: '"words":[{"word":"Good","start":0.5,"end":0.9}',
  },
  {
    client: "OpenAI's Python SDK with srt, which accepts application/json all the same",
    headers: ["Accept: application/json", "User-Agent: OpenAI/Python 3.22.1", "X-Stainless-Lang: python"],
    parts: [field("model", "whisper-1"), field("response_format", "srt"), file("talk.mp3", "audio/mpeg")],
    contains: "00:00:00,500 --> 00:00:01,500\nGood day.",
    contentType: "text/plain; charset=utf-8",
  },
  {
    client: "a program without the version in its base URL",
    path: "/audio/transcriptions",
    headers: ["Accept: */*"],
    parts: [["Content-Disposition: form-data; name=file; filename=upload", sound], field("model", "whisper-1")],
  },
];

/** Returns a request byte by byte. */
function bytesOf(key: string, { path, headers, parts, chunks }: ClientRequest): Buffer {
  const boundary = "----formdata-0.8675309";
  const pieces = [
    ...parts.flatMap(([head, value]) => [`--${boundary}\r\n`, `${head}\r\n\r\n`, value, "\r\n"]),
    `--${boundary}--\r\n`,
  ].map((piece) => Buffer.from(piece));
  const body = Buffer.concat(pieces);
  const half = Math.floor(body.length / 2);
  const sent = chunks === "pieces" ? pieces : [body.subarray(0, half), body.subarray(half)];
  const framed = [...sent, Buffer.alloc(0)].flatMap((chunk) => [`${chunk.length.toString(16)}\r\n`, chunk, "\r\n"]);
  const head = [
    `POST ${path ?? "/v1/audio/transcriptions"} HTTP/1.1`,
    "Host: 127.0.0.1:8787",
    `Authorization: Bearer ${key}`,
    ...headers,
    `Content-Type: multipart/form-data; boundary=${boundary}`,
    chunks !== undefined ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`,
  ];
  return Buffer.concat(
    [`${head.join("\r\n")}\r\n\r\n`, ...(chunks === undefined ? [body] : framed)].map((piece) => Buffer.from(piece)),
  );
}

describe.if(ready)("the request of", () => {
  const server = new ApiServer({ recordingsPerAccount: 1000 });
  const { key } = server.client("first");
  afterAll(() => server[Symbol.dispose]());
  afterEach(() => expect(leftovers(server)).toEqual([]));

  test.each(requests.map((request) => [request.client, request] as const))("%s is answered", async (_, request) => {
    const before = server.queued.length;
    // A stream's answer arrives in several pieces, so the connection is closed after it.
    const closing = { ...request, headers: [...request.headers, "Connection: close"] };
    const answer = server.raw(bytesOf(key, closing), 2);
    const id = await nextQueued(server, before);
    expect(server.recordings.get(id)).toMatchObject(request.recording ?? {});
    end(server, id);
    const received = await answer;
    expect(received).toStartWith("HTTP/1.1 200 ");
    const { contains = '"text":"Good day. Hello! Bye."', contentType = "application/json" } = request;
    expect(received.toLowerCase()).toContain(`\r\ncontent-type: ${contentType}\r\n`);
    expect(received).toContain(contains);
  });

  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${server.origin}${path}`, { ...init, headers: { authorization: `Bearer ${key}` } });

  test("Nextcloud that probes translations gets 400, so that it uses transcriptions", async () => {
    const body = new FormData();
    body.append("model", "invalid-model");
    body.append("file", "a");
    expect((await ask("/v1/audio/translations", { method: "POST", body })).status).toBe(400);
  });

  test("Home Assistant that validates its settings gets a model and a list", async () => {
    expect((await ask("/v1/models/whisper-1")).status).toBe(200);
    expect(((await (await ask("/v1/models")).json()) as { data: unknown[] }).data).not.toEqual([]);
  });
});
