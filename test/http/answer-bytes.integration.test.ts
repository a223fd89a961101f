import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Static, TSchema } from "@sinclair/typebox";
import { bodyOf } from "../../harness/client.ts";
import { segmentPageContract } from "../../harness/contract.ts";
import {
  comparisonSchema,
  findSchema,
  outlineSchema,
  replacementPageSchema,
  segmentPageSchema,
} from "../../src/console/contract/index.ts";
import { tables } from "../../src/database/index.ts";
import { MAX_HELD_BYTES } from "../../src/http/shared/held-answers.ts";
import { MAX_PAGE_BYTES } from "../../src/http/shared/query.ts";
import { scopes } from "../../src/keys/index.ts";
import { MAX_VOICES } from "../../src/voices/index.ts";
import { type Browser, ConsoleServer } from "../support/console.ts";
import type { KeyClient } from "../support/http.ts";
import { UnreadResponse } from "../support/unread-response.ts";
import { end, nextQueued, post, usualParts } from "./compat/support.ts";

setDefaultTimeout(120_000);

const MIB = 1024 * 1024;
/** Characters of a segment's text; each takes three bytes, and is a word. */
const CHARACTERS = 20_000;
/** Segments of a transcript of 32 MiB. */
const SEGMENTS = 46;
const FEW_SEGMENTS = 9;
/** More than an outline has. */
const SHORT_SEGMENTS = 60_000;

/** A word in its longest form. */
const word = JSON.stringify(["語", 64_799_123, 64_799_124, 0.123]);
const words = `[${Array.from({ length: CHARACTERS }, () => word).join(",")}]`;
const longest = Array.from({ length: SEGMENTS }, (_, index) => ({
  ...{ index, startSeconds: index, endSeconds: index + 0.9, speaker: index % 50, text: "語".repeat(CHARACTERS), words },
}));
const shortest = Array.from({ length: SHORT_SEGMENTS }, (_, index) => ({
  ...{ index, startSeconds: index + 40_000, endSeconds: index + 40_000.9, speaker: index % 50, text: "a", words: "[]" },
}));

let server: ConsoleServer;
let operator: Browser;
let client: KeyClient;
/** A client of the same account whose key has all scopes. */
let editor: KeyClient;
/** A corrected transcript of the maximum size, one with some of its segments, and one with the most segments. */
let long = "";
let few = "";
let many = "";
let sequence = 0;

beforeAll(async () => {
  server = new ConsoleServer({ recordingsPerAccount: 1000 });
  const { api } = server;
  client = api.client("first");
  editor = api.client("first", { scopes });
  operator = await server.operator();
  const sourceName = "語".repeat(255);
  long = api.enterProcessing(client.accountId, { sourceName, isTranslated: true });
  api.recordings.rows.addTranslation(long, longest);
  api.recordings.complete(long, longest);
  few = api.enterProcessing(client.accountId, { sourceName });
  api.recordings.complete(few, longest.slice(0, FEW_SEGMENTS));
  many = api.enterProcessing(client.accountId, { sourceName });
  api.recordings.complete(many, shortest);
  const sourceUrl = `https://media.example.org/${"a".repeat(2000)}`;
  for (let count = 0; count < 100; count++) api.enterQueued(client.accountId, { sourceName, sourceUrl });
  // Every segment gets another speaker, so that all differ from the recognized ones.
  const segments = Array.from({ length: SEGMENTS }, (_, index) => index);
  await correct({ action: "assign", segments, speaker: null });
  await operator.send("PUT", `/recordings/${long}/speakers`, { names: { 50: "語".repeat(100) } });
  fillAccount(client.accountId);
  enterLiveText(client.accountId, long);
  api.events.deliver();
  await server.searched();
});
afterAll(() => server[Symbol.dispose]());

async function correct(correction: object) {
  const body = { editor: "page-one", sequence: ++sequence, seen: 100, shown: sequence - 1, correction };
  const answer = await operator.send("POST", `/recordings/${long}/corrections`, body);
  expect(answer.status).toBe(200);
  return answer;
}

/** Enters as many keys, workspaces and voices as an account may have, and more. */
function fillAccount(accountId: string): void {
  const { store } = server.api;
  const name = (index: number) => `${index}${"語".repeat(96)}`;
  const [key] = store.select().from(tables.apiKeys).all();
  if (key === undefined) throw new Error("there is no key");
  store.transaction((writer) => {
    for (let index = 0; index < 1500; index++) {
      const values = { id: `key-${index}`, hash: `hash-${index}`, name: name(index), revokedAt: index % 2 ? 1 : null };
      writer
        .insert(tables.apiKeys)
        .values({ ...key, ...values })
        .run();
      writer
        .insert(tables.workspaces)
        .values({ id: `workspace-${index}`, accountId, name: name(index), createdAt: 1 })
        .run();
      if (index >= MAX_VOICES) continue;
      const voice = { id: `voice-${index}`, accountId, name: name(index), model: "m", createdBy: "o", createdAt: 1 };
      writer.insert(tables.voices).values(voice).run();
    }
  });
}

/** Makes a recording a live session whose words are as many as a page of their comparison has, and more. */
function enterLiveText(accountId: string, recordingId: string): void {
  const { store } = server.api;
  const session = { id: "live", accountId, recordingId, holder: "o", options: "{}", speakerNames: "{}" };
  store
    .insert(tables.liveSessions)
    .values({ ...session, settledSamples: 0, createdAt: 1 })
    .run();
  for (let number = 0; number < 150; number++) {
    const startMilliseconds = number * 20_000;
    const times = { startMilliseconds, endMilliseconds: startMilliseconds + 1000 };
    const segment = { sessionId: "live", number, turn: "t", text: "語".repeat(CHARACTERS + 1), words: "[]" };
    store
      .insert(tables.liveSegments)
      .values({ ...segment, ...times })
      .run();
  }
}

const get = (path: () => string) => (): Promise<Response> => operator.fetch(path());
const data = (path: () => string) => get(() => `/data${path()}`);
const send = (method: string, requestOf: () => [path: string, body: object]) => () =>
  operator.send(method, ...requestOf());
const api =
  (path: () => string, init: RequestInit = {}) =>
  () =>
    client.fetch(path(), init);
const root =
  (path: string, init: RequestInit = {}) =>
  () =>
    fetch(`${server.origin}${path}`, init);
const junk = "x".repeat(100_000);

/**
 * Creates a recording whose client waits, and ends it with a transcript of more than may be held in memory. The answer is
 * a file of any length; the longest takes seconds to write.
 */
const waiting =
  (path: string, parts = usualParts()) =>
  async () => {
    const before = server.api.queued.length;
    const answer = post(server.api, client, parts, { path });
    const segments = longest.slice(0, FEW_SEGMENTS);
    end(server.api, await nextQueued(server.api, before), { segments, translation: segments } as never);
    return await answer;
  };
const openAi = (...parts: [string, string][]) => [...usualParts(), ...parts];
const withKey = (path: string) => () =>
  fetch(`${server.origin}${path}`, { headers: { authorization: `Bearer ${client.key}` } });

/** The longest settings of a session. */
const keywords = Array.from({ length: 70 }, () => "語".repeat(200));
const realtimeSession = { audio: { input: { transcription: { keywords, prompt: "語".repeat(4000) } } } };
const sendJson = (path: string, body: object) => () => {
  const headers = { authorization: `Bearer ${client.key}` };
  return fetch(`${server.origin}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
};

const tagsOfMaximumSize = Array.from({ length: 20 }, (_, index) => `${index}${"語".repeat(48)}`);

/** Returns the row of an operation on the longest transcript, with requests for each body and for two revisions. */
function ofEditing(method: string, path: string, maxBytes: number, ...bodies: readonly object[]): Row[] {
  const route = `${method} /api/public/v1/transcriptions/:id${path.split("?")[0]}`;
  const request = (body: object | undefined, revision: string) => () =>
    editor.fetch(`/transcriptions/${long}${path.replace(":number", revision)}`, {
      method,
      headers: { "If-Match": `"${revision}"` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const sent = bodies.length === 0 ? [undefined] : bodies;
  return [[route, maxBytes, ...sent.flatMap((body) => ["0", "1"].map((revision) => request(body, revision)))]];
}

/** Bytes of a file with a long transcript, which is sent from the disk. */
const FILE = 100 * MIB;

type Row = readonly [route: string, maxBytes: number, ...requests: (() => Promise<Response>)[]];

/**
 * Every route of the server with the requests that have its largest answers, and their maximum size. Answers above
 * MAX_HELD_BYTES are files or streams, which take no memory.
 */
const table: readonly Row[] = [
  [
    "POST /api/public/v1/transcriptions",
    8 * 1024,
    api(() => "/transcriptions", { method: "POST", body: junk }),
    () => client.fetch("/transcriptions", { method: "POST", body: formOf({ url: junk, language: junk, [junk]: "" }) }),
  ],
  [
    "GET /api/public/v1/transcriptions",
    MIB,
    api(() => "/transcriptions?limit=100"),
    api(() => `/transcriptions?status=${junk.slice(0, 9000)}`),
  ],
  ["GET /api/public/v1/transcriptions/:id", 8 * 1024, api(() => `/transcriptions/${long}`)],
  [
    "DELETE /api/public/v1/transcriptions/:id",
    1024,
    api(() => `/transcriptions/${server.api.enterCompleted(client.accountId, 1)}`, { method: "DELETE" }),
  ],
  [
    "GET /api/public/v1/transcriptions/:id/segments",
    MAX_PAGE_BYTES + 1024,
    api(() => `/transcriptions/${long}/segments?limit=1000`),
    api(() => `/transcriptions/${long}/segments?limit=1000&words=true`),
    api(() => `/transcriptions/${many}/segments?limit=1000&words=true`),
  ],
  [
    "GET /api/public/v1/transcriptions/:id/export",
    FILE,
    api(() => `/transcriptions/${long}/export?format=txt`),
    api(() => `/transcriptions/${long}/export?format=${junk.slice(0, 9000)}`),
  ],
  [
    "GET /api/public/v1/transcriptions/:id/exports/:format",
    FILE,
    api(() => `/transcriptions/${long}/exports/md`),
    api(() => `/transcriptions/${long}/exports/json?text=translation`),
    api(() => `/transcriptions/${long}/exports/${junk.slice(0, 9000)}`),
  ],
  ...ofEditing("POST", "/cancel", 8 * 1024),
  ...ofEditing("GET", "/speakers", 256 * 1024),
  ...ofEditing("PATCH", "/speakers", 256 * 1024, { names: { A: "人".repeat(100) } }, { names: { [junk]: "" } }),
  ...ofEditing("POST", "/speakers/merge", MAX_HELD_BYTES, { speaker: "B", into: "A" }),
  ...ofEditing("POST", "/corrections", MAX_HELD_BYTES, { corrections: [{ index: 0, text: "人".repeat(CHARACTERS) }] }),
  ...ofEditing("GET", "/revisions", 64 * 1024),
  ...ofEditing("GET", "/revisions/:number?limit=1000", MAX_PAGE_BYTES + 1024),
  ...ofEditing("GET", "/revisions/:number/comparison?limit=1000", MAX_PAGE_BYTES + 1024),
  ...ofEditing("POST", "/revisions/:number/restore", MAX_HELD_BYTES, {}),
  ...ofEditing("GET", "/process", 8 * 1024),
  ...ofEditing("POST", "/process", 8 * 1024, { model: "none" }, { prompt: "語".repeat(4000) }),
  ...ofEditing("GET", "/tags", 8 * 1024),
  ...ofEditing("PUT", "/tags", 8 * 1024, { tags: tagsOfMaximumSize }, { tags: [junk] }),
  [
    "GET /api/public/v1/search",
    MAX_PAGE_BYTES + 1024,
    () => editor.fetch(`/search?limit=100&q=${encodeURIComponent("語")}`),
    () => editor.fetch(`/search?q=${junk.slice(0, 9000)}`),
  ],
  ["GET /api/public/v1/voices", 256 * 1024, () => editor.fetch("/voices")],
  [
    "PUT /api/public/v1/voices/:voice",
    256 * 1024,
    () => editor.fetch("/voices/voice-3", { method: "PUT", body: JSON.stringify({ name: "人".repeat(100) }) }),
  ],
  ["DELETE /api/public/v1/voices/:voice", 8 * 1024, () => editor.fetch("/voices/voice-4", { method: "DELETE" })],
  [
    "GET /api/public/v1/transcriptions/:id/translation",
    MAX_PAGE_BYTES + 1024,
    api(() => `/transcriptions/${long}/translation?limit=1000`),
    api(() => `/transcriptions/${long}/translation?limit=1000&words=true`),
  ],
  ["GET /api/public/v1/languages", 64 * 1024, api(() => "/languages")],
  // The answers without a WebSocket. What a WebSocket may leave unread is tested with live sessions.
  [
    "GET /api/public/v1/live",
    8 * 1024,
    api(() => "/live"),
    api(() => `/live?prompt=${"語".repeat(1000)}&turns=${junk.slice(0, 5000)}`),
  ],
  ...["/v1/realtime", "/realtime", "/openai/v1/realtime"].flatMap((path): Row[] => [
    [`GET ${path}`, 1024, withKey(path)],
    [`POST ${path}/client_secrets`, 64 * 1024, sendJson(`${path}/client_secrets`, { session: realtimeSession })],
    [
      `POST ${path}/transcription_sessions`,
      64 * 1024,
      sendJson(`${path}/transcription_sessions`, {
        input_audio_transcription: realtimeSession.audio.input.transcription,
      }),
    ],
  ]),
  ["POST /audio/transcriptions", FILE, waiting("/audio/transcriptions", openAi(["stream", "true"]))],
  [
    "POST /v1/audio/transcriptions",
    FILE,
    waiting(
      "/v1/audio/transcriptions",
      openAi(["response_format", "verbose_json"], ["timestamp_granularities[]", "word"]),
    ),
    () => post(server.api, client, [["model", junk], ...usualParts()]),
    () => post(server.api, client, openAi(["language", junk])),
  ],
  ...["", "/v1"].flatMap((prefix): Row[] => [
    [
      `POST ${prefix}/audio/translations`,
      FILE,
      waiting(`${prefix}/audio/translations`, openAi(["response_format", "verbose_json"])),
      () => post(server.api, client, [["model", junk], ...usualParts()], { path: `${prefix}/audio/translations` }),
    ],
    [`GET ${prefix}/models`, 64 * 1024, withKey(`${prefix}/models`)],
    [`GET ${prefix}/models/:model`, 16 * 1024, withKey(`${prefix}/models/${junk.slice(0, 9000)}`)],
  ]),
  ["POST /asr", FILE, () => waiting("/asr?output=json&word_timestamps=true", asrParts())()],
  ["POST /detect-language", 8 * 1024, () => post(server.api, client, [["other", junk]], { path: "/detect-language" })],
  ["GET /console", 1024, get(() => "")],
  ["GET /console/", 64 * 1024, get(() => "/")],
  [
    "GET /console/assets/:name",
    MAX_HELD_BYTES,
    ...["script", "link"].map(
      (tag) => async () =>
        await operator.fetch(`/${await assetOf(tag)}`, { headers: { "accept-encoding": "identity" } }),
    ),
  ],
  [
    "POST /console/back-channel-logout",
    8 * 1024,
    () => operator.fetch("/back-channel-logout", { method: "POST", body: `logout_token=${junk}` }),
  ],
  ["GET /console/data/sign-in-methods", 8 * 1024, data(() => "/sign-in-methods")],
  ["POST /console/data/session", 8 * 1024, send("POST", () => ["/session", { token: junk }])],
  ["POST /console/data/provider-sign-in", 8 * 1024, send("POST", () => ["/provider-sign-in", { page: junk }])],
  ["GET /console/data/session", 8 * 1024, data(() => "/session")],
  ["GET /console/data/overview", MIB, data(() => "/overview")],
  ["GET /console/data/events", MIB, async () => await firstEvent()],
  ["GET /console/data/upload-options", MAX_PAGE_BYTES + 64 * 1024, data(() => "/upload-options")],
  [
    "GET /console/data/recordings",
    MIB,
    data(() => "/recordings?limit=100"),
    data(() => `/recordings?limit=100&q=${encodeURIComponent("語")}`),
  ],
  [
    "POST /console/data/recordings",
    8 * 1024,
    () => operator.data(`/recordings?account=${client.accountId}`, { method: "POST", body: formOf({ url: junk }) }),
  ],
  [
    "GET /console/data/recordings/:id",
    256 * 1024,
    data(() => `/recordings/${long}`),
    data(() => `/recordings/${many}`),
  ],
  [
    "DELETE /console/data/recordings/:id",
    1024,
    () => operator.send("DELETE", `/recordings/${server.api.enterCompleted(client.accountId, 1)}`),
  ],
  [
    "GET /console/data/recordings/:id/segments",
    MAX_PAGE_BYTES + 1024,
    data(() => `/recordings/${long}/segments?limit=500`),
    data(() => `/recordings/${many}/segments?limit=500`),
  ],
  [
    "GET /console/data/recordings/:id/outline",
    MAX_PAGE_BYTES,
    data(() => `/recordings/${long}/outline`),
    data(() => `/recordings/${many}/outline`),
  ],
  [
    "GET /console/data/recordings/:id/find",
    MAX_PAGE_BYTES + 1024,
    data(() => `/recordings/${long}/find?limit=1000&q=${encodeURIComponent("語")}`),
    data(() => `/recordings/${many}/find?limit=1000&q=a`),
  ],
  ["GET /console/data/recordings/:id/playback", 8 * 1024, data(() => `/recordings/${long}/playback`)],
  ["GET /console/data/recordings/:id/audio", 8 * 1024, data(() => `/recordings/${long}/audio`)],
  // 20,000 peaks in base64.
  ["GET /console/data/recordings/:id/waveform", 32 * 1024, data(() => `/recordings/${long}/waveform?most=20000`)],
  [
    "PUT /console/data/recordings/:id/speakers",
    256 * 1024,
    send("PUT", () => [`/recordings/${long}/speakers`, { names: { 0: "人".repeat(100) } }]),
  ],
  [
    "POST /console/data/recordings/:id/corrections",
    MAX_HELD_BYTES,
    () => correct({ action: "assign", segments: Array.from({ length: SEGMENTS }, (_, index) => index), speaker: null }),
    () => correct({ action: "text", segment: 0, text: "人".repeat(CHARACTERS) }),
    () => correct({ action: "assign", segments: [0, 1], speaker: null }),
  ],
  [
    "GET /console/data/recordings/:id/changes",
    MAX_HELD_BYTES,
    ...[0, 1, 2].map((seen) => data(() => `/recordings/${long}/changes?seen=${seen}&editor=page-two`)),
  ],
  ["GET /console/data/recordings/:id/revisions", 64 * 1024, data(() => `/recordings/${long}/revisions`)],
  [
    "GET /console/data/recordings/:id/comparison",
    MAX_PAGE_BYTES + 1024,
    data(() => `/recordings/${long}/comparison?revision=0`),
  ],
  [
    "GET /console/data/recordings/:id/live-comparison",
    MAX_PAGE_BYTES + 1024,
    ...[0, 100].map((after) => data(() => `/recordings/${long}/live-comparison?after=${after}`)),
  ],
  // Without a WebSocket; the messages of one are bounded by its guard.
  ["GET /console/data/live", 1024, data(() => "/live?account=x")],
  [
    "GET /console/data/recordings/:id/replacements",
    MAX_PAGE_BYTES + 1024,
    data(() => `/recordings/${long}/replacements?${new URLSearchParams({ find: "語", replacement: "人" })}`),
    data(
      () => `/recordings/${long}/replacements?${new URLSearchParams({ find: "語", replacement: "人".repeat(200) })}`,
    ),
    data(() => `/recordings/${many}/replacements?${new URLSearchParams({ find: "a", replacement: "b".repeat(200) })}`),
  ],
  [
    "GET /console/data/recordings/:id/translation",
    MAX_PAGE_BYTES + 1024,
    data(() => `/recordings/${long}/translation?limit=500`),
  ],
  [
    "GET /console/data/recordings/:id/exports/:format",
    FILE,
    ...["txt", "json"].map((format) => data(() => `/recordings/${long}/exports/${format}`)),
  ],
  [
    "POST /console/data/recordings/:id/voices",
    8 * 1024,
    send("POST", () => [`/recordings/${long}/voices`, { speaker: "A" }]),
  ],
  [
    "POST /console/data/recordings/:id/proposals",
    8 * 1024,
    send("POST", () => [`/recordings/${long}/proposals`, { speaker: "A", voice: "voice-1", confirmed: true }]),
  ],
  ["GET /console/data/accounts", MAX_PAGE_BYTES + 64 * 1024, data(() => "/accounts?limit=100")],
  ["GET /console/data/accounts/:id/voices", 256 * 1024, data(() => `/accounts/${client.accountId}/voices`)],
  ["GET /console/data/accounts/:id/webhooks", 256 * 1024, data(() => `/accounts/${client.accountId}/webhooks`)],
  [
    "PUT /console/data/accounts/:id/retention",
    8 * 1024,
    send("PUT", () => [`/accounts/${client.accountId}/retention`, { audio_days: 36_500, completed_days: 36_500 }]),
  ],
  [
    "POST /console/data/accounts/:id/webhooks",
    256 * 1024,
    send("POST", () => [
      `/accounts/${client.accountId}/webhooks`,
      { url: "https://", events: ["recording.completed"] },
    ]),
  ],
  [
    "GET /console/data/accounts/:id/replacements",
    MAX_PAGE_BYTES,
    data(() => `/accounts/${client.accountId}/replacements`),
  ],
  [
    "POST /console/data/accounts/:id/replacements",
    MAX_PAGE_BYTES,
    send("POST", () => [
      `/accounts/${client.accountId}/replacements`,
      { words: "人".repeat(100), text: "人".repeat(200), match_case: true },
    ]),
  ],
  ["DELETE /console/data/replacements/:id", MAX_PAGE_BYTES, () => operator.send("DELETE", "/replacements/none")],
  ["POST /console/data/webhooks/:id/tests", 256 * 1024, send("POST", () => ["/webhooks/none/tests", {}])],
  ["POST /console/data/webhooks/:id/secrets", 256 * 1024, send("POST", () => ["/webhooks/none/secrets", {}])],
  ["PUT /console/data/webhooks/:id", 256 * 1024, send("PUT", () => ["/webhooks/none", { paused: true }])],
  ["DELETE /console/data/webhooks/:id", 256 * 1024, () => operator.send("DELETE", "/webhooks/none")],
  ["PUT /console/data/voices/:id", 256 * 1024, send("PUT", () => ["/voices/voice-1", { name: "人".repeat(100) }])],
  ["DELETE /console/data/voices/:id", 256 * 1024, () => operator.send("DELETE", "/voices/voice-2")],
  [
    "POST /console/data/keys",
    8 * 1024,
    send("POST", () => ["/keys", { account: client.accountId, name: "人".repeat(100) }]),
  ],
  ["DELETE /console/data/keys/:id", 8 * 1024, () => operator.send("DELETE", "/keys/key-2")],
  ["GET /console/data/recordings/:id/processing", 64 * 1024, data(() => `/recordings/${long}/processing`)],
  ["POST /console/data/recordings/:id/processing", 256 * 1024, () => processAgain()],
  [
    "DELETE /console/data/recordings/:id/processing",
    256 * 1024,
    () => operator.send("DELETE", `/recordings/${long}/processing`),
  ],
  ["GET /healthz", 1024, root("/healthz")],
  ["GET /readyz", 8 * 1024, root("/readyz")],
  ["GET /metrics", MIB, root("/metrics")],
  ["GET /fleet/workers", 8 * 1024, root("/fleet/workers")],
  ["GET /openapi.json", MIB, root("/openapi.json")],
  ["GET /docs", 64 * 1024, root("/docs")],
  ["GET /docs/icon.png", 64 * 1024, root("/docs/icon.png")],
  ["GET /docs/page.js", 64 * 1024, root("/docs/page.js")],
  ["GET /docs/swagger-ui-bundle.js", MAX_HELD_BYTES, root("/docs/swagger-ui-bundle.js")],
  ["GET /docs/swagger-ui.css", MAX_HELD_BYTES, root("/docs/swagger-ui.css")],
  // The last row, because it ends the session.
  ["DELETE /console/data/session", 8 * 1024, () => operator.send("DELETE", "/session")],
];

async function processAgain() {
  await Bun.write(server.api.dataDirectory.localAudio.pathOf(long), "audio");
  const choice = { model: "whisper-base", language: null };
  const answer = await operator.send("POST", `/recordings/${long}/processing`, choice);
  expect(answer.status).toBe(200);
  return answer;
}

function formOf(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

function asrParts() {
  const [[, file] = ["", ""]] = usualParts();
  return [["audio_file", file, "talk.mp3"] as [string, Blob, string]];
}

async function assetOf(tag: string): Promise<string> {
  const page = await (await operator.fetch("/")).text();
  return new RegExp(`<${tag}[^>]*(?:src|href)="(assets/[^"]+)"`).exec(page)?.[1] ?? "";
}

/** Returns a response with the first event of the stream. */
async function firstEvent(): Promise<Response> {
  const reader = (await operator.data("/events")).body?.getReader();
  let text = "";
  while (!text.includes("data:") || !text.endsWith("\n\n"))
    text += Buffer.from((await reader?.read())?.value ?? "").toString();
  await reader?.cancel();
  return new Response(text);
}

describe("the answers of all routes", () => {
  test("are in the table, which has no others", () => {
    expect(table.map(([route]) => route).sort()).toEqual([...new Set(server.api.routes)].sort());
  });

  test("that come in pages join to the whole, also when a page has fewer entries than asked for", async () => {
    const read = async <T extends TSchema>(
      schema: T,
      address: (after: string) => string,
      nextOf: (page: Static<T>, count: number) => number | string | null,
      countOf: (page: Static<T>) => number,
      fetchPage = (path: string) => operator.data(path),
    ) => {
      let [count, pages] = [0, 0];
      for (let after: number | string | null = ""; after !== null; pages++) {
        const page: Static<T> = await bodyOf(await fetchPage(address(String(after))), 200, schema);
        count += countOf(page);
        after = nextOf(page, count);
      }
      return [count, pages > 1];
    };
    const path = `/recordings/${few}`;
    const after = (value: string) => (value === "" ? "" : `&after=${value}`);
    const found = encodeURIComponent("語");
    const wholes = [
      await read(
        segmentPageContract,
        (cursor) => `/transcriptions/${few}/segments?limit=1000&words=true${cursor === "" ? "" : `&cursor=${cursor}`}`,
        ({ has_more, next_cursor }) => (has_more ? next_cursor : null),
        ({ data }) => data.length,
        (address) => client.fetch(address),
      ),
      await read(
        segmentPageSchema,
        (from) => `${path}/segments?limit=500${after(from)}`,
        (_, count) => (count < FEW_SEGMENTS ? count - 1 : null),
        ({ segments }) => segments.length,
      ),
      await read(
        findSchema,
        (from) => `${path}/find?q=${found}${after(from)}`,
        (page) => page.next_after,
        ({ matches }) => matches.length,
      ),
      await read(
        replacementPageSchema,
        (from) => `${path}/replacements?find=${found}&replacement=x${after(from)}`,
        (page) => page.next_after,
        ({ replacements }) => replacements.length,
      ),
    ];
    expect(wholes).toEqual(wholes.map(() => [FEW_SEGMENTS, true]));
    const differences = await read(
      comparisonSchema,
      (from) => `/recordings/${long}/comparison?revision=0${after(from)}`,
      (page) => page.next_after,
      (page) => page.differences.reduce((sum, difference) => sum + difference.after.length, 0),
    );
    expect(differences).toEqual([SEGMENTS, true]);
    const outline = await read(
      outlineSchema,
      (from) => `/recordings/${many}/outline?x${after(from)}`,
      (page) => page.next_after,
      ({ characters }) => characters.length,
    );
    expect(outline).toEqual([SHORT_SEGMENTS, true]);
  });

  test("take less than 150 MiB together while 40 clients do not read them", async () => {
    // Without the garbage of other tests and of the answers that are refused.
    const used = () => {
      Bun.gc(true);
      return process.memoryUsage.rss();
    };
    const before = used();
    using unread = new DisposableStack();
    for (let count = 0; count < 40; count++) {
      const path = `/transcriptions/${few}/${["segments?words=true", "segments", "export?format=txt"][count % 3]}`;
      const answer = unread.use(await UnreadResponse.of(`${server.api.baseUrl}${path}`, client.key));
      expect([200, 429]).toContain(answer.status);
    }
    expect(used() - before).toBeLessThan(150 * MIB);
  });

  test.each(table)("have at most the bytes of the table: %s", async (_, maxBytes, ...requests) => {
    for (const request of requests) {
      const answer = await request();
      let bytes = 0;
      for await (const part of answer.body ?? []) bytes += part.length;
      expect([answer.status < 500, bytes <= maxBytes]).toEqual([true, true]);
    }
  });
});
