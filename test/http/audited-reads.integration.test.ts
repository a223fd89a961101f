import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { available, ffmpegPath } from "../../harness/checkout.ts";
import { type Store, tables } from "../../src/database/index.ts";
import { scopes } from "../../src/keys/index.ts";
import { ConsoleServer } from "../support/console.ts";
import { ApiServer } from "../support/http.ts";
import { conversation, end, jfk, nextQueued, transcribe, usualParts } from "./compat/support.ts";

/** Returns the reads that are recorded: action, actor, recording, surface and format. */
function readsIn(store: Store) {
  const rows = store.select().from(tables.auditLog).orderBy(tables.auditLog.id).all();
  return rows.flatMap(({ action, actor, subject, details }) => {
    if (!action.startsWith("transcripts.")) return [];
    const { surface, format = null } = JSON.parse(details) as { surface: string; format?: string };
    return [{ action: action.slice("transcripts.".length), actor, subject, surface, format }];
  });
}

describe("a read by the API", () => {
  const server = new ApiServer();
  const client = server.client("acme");
  afterAll(() => server[Symbol.dispose]());
  let id = "";
  beforeEach(() => {
    server.store.delete(tables.auditLog).run();
    server.auditsReads = true;
    id = server.enterProcessing(client.accountId);
    server.recordings.complete(id, conversation);
  });
  const recorded = () => readsIn(server.store);
  const byKey = (rest: { readonly action: string; readonly format: string | null }) => ({
    actor: client.keyId,
    subject: id,
    surface: "v1",
    ...rest,
  });

  test("is recorded as one view for all pages of the segments, with the key", async () => {
    for (const query of ["limit=1", "limit=1&words=true", "limit=2"]) {
      expect((await client.fetch(`/transcriptions/${id}/segments?${query}`)).status).toBe(200);
    }
    expect(recorded()).toEqual([byKey({ action: "view", format: null })]);
    const other = server.client("acme");
    await other.fetch(`/transcriptions/${id}/segments`);
    expect(recorded()).toHaveLength(2);
  });

  test.each(["/revisions/0", "/revisions/0/comparison"])("is recorded for the texts of %s", async (path) => {
    expect((await client.fetch(`/transcriptions/${id}${path}`)).status).toBe(200);
    expect(recorded()).toEqual([byKey({ action: "view", format: null })]);
  });

  test("is recorded for the texts of a correction that comes too late", async () => {
    const editor = server.client("acme", { scopes });
    const correct = (revision: number) =>
      editor.fetch(`/transcriptions/${id}/corrections`, {
        method: "POST",
        headers: { "If-Match": `"${revision}"` },
        body: JSON.stringify({ corrections: [{ index: 0, text: "Changed." }] }),
      });
    expect((await correct(0)).status).toBe(200);
    expect(recorded()).toEqual([]);
    expect((await correct(0)).status).toBe(412);
    expect(recorded()).toEqual([{ ...byKey({ action: "view", format: null }), actor: editor.keyId }]);
  });

  test("is recorded for each export that is sent, and not for one that the client has", async () => {
    const first = await client.fetch(`/transcriptions/${id}/export?format=srt`);
    const again = { headers: { "If-None-Match": first.headers.get("etag") ?? "" } };
    expect((await client.fetch(`/transcriptions/${id}/export?format=srt`, again)).status).toBe(304);
    expect((await client.fetch(`/transcriptions/${id}/exports/md`)).status).toBe(200);
    expect(recorded()).toEqual([byKey({ action: "export", format: "srt" }), byKey({ action: "export", format: "md" })]);
  });

  test("is not recorded for requests that show no text, or that are refused", async () => {
    const open = server.enterProcessing(client.accountId);
    const stranger = server.client("other");
    for (let poll = 0; poll < 5; poll++) await client.fetch(`/transcriptions/${open}`);
    for (const [key, path] of [
      [client, "/transcriptions"],
      [client, `/transcriptions/${id}`],
      [client, `/transcriptions/${open}/segments`],
      [client, `/transcriptions/${open}/export?format=srt`],
      [client, `/transcriptions/${id}/export?format=none`],
      [stranger, `/transcriptions/${id}/segments`],
      [stranger, `/transcriptions/${id}/export?format=srt`],
    ] as const)
      await key.fetch(path);
    expect(recorded()).toEqual([]);
  });

  test("is not recorded without the setting", async () => {
    server.auditsReads = false;
    await client.fetch(`/transcriptions/${id}/segments`);
    await client.fetch(`/transcriptions/${id}/export?format=srt`);
    expect(recorded()).toEqual([]);
  });
});

describe.if(available("tests of the APIs of existing clients", ffmpegPath, jfk))("a read by an existing client", () => {
  const server = new ApiServer({ recordingsPerAccount: 1000 });
  const client = server.client("acme");
  afterAll(() => server[Symbol.dispose]());
  beforeEach(() => {
    server.store.delete(tables.auditLog).run();
    server.auditsReads = true;
  });

  test.each(["json", "verbose_json", "diarized_json", "text", "srt", "vtt"])(
    "of OpenAI's API is an export as %s",
    async (format) => {
      const before = server.queued.length;
      await (await transcribe(server, client, [...usualParts(), ["response_format", format]])).text();
      const subject = server.queued[before] ?? "";
      expect(readsIn(server.store)).toEqual([
        { action: "export", actor: client.keyId, subject, surface: "openai", format },
      ]);
    },
  );

  test("of OpenAI's API is an export when it is streamed, too", async () => {
    await (await transcribe(server, client, [...usualParts(), ["stream", "true"]])).text();
    expect(readsIn(server.store)).toMatchObject([{ action: "export", surface: "openai", format: "json" }]);
  });

  test.each(["txt", "json", "srt"])(
    "of whisper-asr-webservice's is an export as %s, by a key or an address",
    async (format) => {
      server.compat = { ...server.compat, asr_key_account: "acme", asr_networks: ["127.0.0.0/8"] };
      const body = new FormData();
      body.append("audio_file", Bun.file(jfk), "talk.mp3");
      const actors = [client.keyId, "address:127.0.0.1"];
      for (const headers of [{ authorization: `Bearer ${client.key}` }, {}]) {
        const before = server.queued.length;
        const answer = fetch(`${server.origin}/asr?output=${format}`, { method: "POST", body, headers });
        end(server, await nextQueued(server, before));
        await (await answer).text();
      }
      expect(readsIn(server.store)).toMatchObject(
        actors.map((actor) => ({ action: "export", actor, surface: "asr", format })),
      );
    },
  );
});

test("the console records what people see and take away, by their names in the audit log", async () => {
  using server = new ConsoleServer();
  const { api } = server;
  const id = await server.enterSaid("acme", ["hello world", "good bye"]);
  const browser = await server.operator();
  api.store.delete(tables.auditLog).run();
  api.auditsReads = true;
  // Screens that show no text.
  for (const path of [
    "/recordings",
    `/recordings/${id}`,
    `/recordings/${id}/outline?after=0`,
    `/recordings/${id}/revisions`,
  ]) {
    expect([path, (await browser.data(path)).status]).toEqual([path, 200]);
  }
  for (let poll = 0; poll < 3; poll++) await browser.data(`/recordings/${id}/changes?seen=0&editor=editor-1`);
  expect(readsIn(api.store)).toEqual([]);
  const corrected = await browser.send("POST", `/recordings/${id}/corrections`, {
    correction: { action: "text", segment: 1, text: "good day" },
    ...{ shown: 0, seen: 0, editor: "editor-1", sequence: 1 },
  });
  expect(corrected.status).toBe(200);
  expect(readsIn(api.store)).toMatchObject([{ action: "view", subject: id }]);
  // Somebody who has seen nothing gets the corrected text.
  const other = await server.operator();
  api.store.delete(tables.auditLog).run();
  api.advance(10 * 60_000);
  await other.data(`/recordings/${id}/changes?seen=0&editor=editor-2`);
  expect(readsIn(api.store)).toMatchObject([{ action: "view", subject: id }]);
  api.store.delete(tables.auditLog).run();
  api.advance(10 * 60_000);
  await browser.data("/recordings?q=nothing");
  expect(readsIn(api.store)).toEqual([]);
  await browser.data("/recordings?q=hello");
  await browser.data(`/recordings/${id}/segments?after=-1&limit=10`);
  await browser.data(`/recordings/${id}/segments?after=-1&limit=10`);
  const [view, ...others] = readsIn(api.store);
  expect(view).toEqual({ action: "view", actor: "operator (console)", subject: id, surface: "console", format: null });
  expect(others).toEqual([]);
  expect((await browser.data(`/recordings/${id}/exports/srt`)).status).toBe(200);
  expect(readsIn(api.store).slice(1)).toMatchObject([{ action: "export", format: "srt", surface: "console" }]);
});
