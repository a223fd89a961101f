import { afterAll, describe, expect, test } from "bun:test";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { type CreateForm, post, SlowUpload, someUrl } from "../support/forms.ts";
import { ApiServer, type KeyClient } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("tests of the Idempotency-Key", ffmpegPath, jfk);
const hours = (count: number) => count * 3_600_000;
let keys = 0;
const newKey = () => `key-${++keys}`;

/** The parts of an answer that a replay repeats. */
const answerOf = async (response: Response) => ({
  status: response.status,
  location: response.headers.get("location"),
  type: response.headers.get("content-type"),
  replayed: response.headers.get("idempotency-replayed"),
  body: await response.text(),
});
type Answer = Awaited<ReturnType<typeof answerOf>>;
const replayOf = (first: Answer) => ({ ...first, replayed: "true" });

describe.if(ready)("an Idempotency-Key", () => {
  const server = new ApiServer({ recordingsPerAccount: 1000 });
  server.now = () => Date.parse("2026-11-21T08:00:00Z");
  afterAll(() => server[Symbol.dispose]());
  const client = server.client("first");
  const recording = Bun.file(jfk);
  const other = new Blob([recording, "a byte more"]);
  const notAudio = new Blob(["hello, this is no recording"]);

  const entered = () => server.idsOf(client.accountId).length;
  const send = async (form: CreateForm, key: string, by: KeyClient = client) => answerOf(await post(by, form, key));
  const codeOf = ({ status, body }: Answer) => `${status} ${JSON.parse(body).error}`;

  const bodies: [string, CreateForm][] = [
    ["a file", { file: recording }],
    ["a file and its language", { file: recording, language: "de" }],
    ["a link", { url: someUrl }],
    ["a link and its language", { url: someUrl, language: "en" }],
    ["a link and hints", { url: someUrl, prompt: "Helstone", min_speakers: "2", max_speakers: "3" }],
  ];
  for (const [what, form] of bodies) {
    test(`${what}, sent again: the first answer byte for byte, and one recording`, async () => {
      const key = newKey();
      const before = entered();
      const first = await send(form, key);
      expect([first.status, first.replayed]).toEqual([201, null]);
      expect(first.location).toEndWith(`/transcriptions/${JSON.parse(first.body).id}`);
      server.recordings.claim(JSON.parse(first.body).id);
      for (let count = 0; count < 3; count++) {
        server.advance(1000);
        expect(await send(form, key)).toEqual(replayOf(first));
      }
      expect(entered()).toBe(before + 1);
    });
  }

  const differences: [string, CreateForm, CreateForm][] = [
    ["other bytes", { file: recording }, { file: other }],
    ["another name", { file: recording, name: "a.mp3" }, { file: recording, name: "b.mp3" }],
    ["a language more", { file: recording }, { file: recording, language: "de" }],
    ["a language less", { file: recording, language: "de" }, { file: recording }],
    ["another language", { file: recording, language: "de" }, { file: recording, language: "en" }],
    ["a prompt more", { url: someUrl }, { url: someUrl, prompt: "Helstone" }],
    ["another prompt", { url: someUrl, prompt: "Helstone" }, { url: someUrl, prompt: "Leverrier" }],
    ["a number of speakers less", { url: someUrl, speakers: "2" }, { url: someUrl }],
    ["another minimum of speakers", { url: someUrl, min_speakers: "2" }, { url: someUrl, min_speakers: "3" }],
    ["a maximum for a minimum", { url: someUrl, min_speakers: "2" }, { url: someUrl, max_speakers: "2" }],
    ["another link", { url: someUrl }, { url: `${someUrl}?2` }],
    ["a file for a link", { url: someUrl }, { file: recording }],
    ["a link for a file", { file: recording }, { url: someUrl }],
    ["nothing", { file: recording }, {}],
    ["a file that is none", { file: recording }, { file: notAudio }],
    ["a good file after a bad one", { file: notAudio }, { file: recording }],
    ["a known language after an unknown one", { file: recording, language: "xx" }, { file: recording, language: "de" }],
    ["both file and link", { url: someUrl }, { url: someUrl, file: recording }],
  ];
  for (const [what, form, second] of differences) {
    test(`with ${what}: 409 idempotency_key_reused, and the first answer stands`, async () => {
      const key = newKey();
      const first = await send(form, key);
      const before = entered();
      expect(codeOf(await send(second, key))).toBe("409 idempotency_key_reused");
      expect(await send(form, key)).toEqual(replayOf(first));
      expect(entered()).toBe(before);
    });
  }

  const kept: [string, CreateForm][] = [
    ["neither file nor url", {}],
    ["both", { file: recording, url: someUrl }],
    ["no recording", { file: notAudio }],
    ["an empty file", { file: new Blob([]) }],
    ["an unknown language", { file: recording, language: "xx" }],
    ["a private address", { url: "http://10.0.0.1/a.mp3" }],
    ["a playlist", { url: "https://media.example.org/a.m3u8" }],
  ];
  for (const [what, form] of kept) {
    test(`422 for ${what} is kept and given again`, async () => {
      const key = newKey();
      const first = await send(form, key);
      expect([first.status, first.replayed]).toEqual([422, null]);
      expect(await send(form, key)).toEqual(replayOf(first));
      expect(server.filesIn("incoming")).toEqual([]);
    });
  }

  const raw = async (body: string | Uint8Array, key: string, headers: Record<string, string> = {}) =>
    answerOf(
      await client.fetch("/transcriptions", {
        method: "POST",
        body,
        headers: { "content-type": "multipart/form-data; boundary=x", "idempotency-key": key, ...headers },
      }),
    );

  test("stores the 422 of a truncated upload, too; the complete upload needs a new key", async () => {
    const key = newKey();
    const cut = '--x\r\nContent-Disposition: form-data; name="url"\r\n\r\nhttps://media.exa';
    const whole = `--x\r\nContent-Disposition: form-data; name="url"\r\n\r\n${someUrl}\r\n--x--\r\n`;
    const first = await raw(cut, key);
    expect(codeOf(first)).toBe("422 uploaded_file_cannot_be_processed");
    expect(await raw(cut, key)).toEqual(replayOf(first));
    expect(codeOf(await raw(whole, key))).toBe("409 idempotency_key_reused");
    expect((await raw(whole, newKey())).status).toBe(201);
  });

  test("stores the 422 of a wrong digest, and distinguishes the repeated parts", async () => {
    const part = (name: string) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nen\r\n`;
    const key = newKey();
    const first = await raw(`${part("language")}${part("language")}--x--\r\n`, key);
    expect(Object.keys(JSON.parse(first.body).errors)).toEqual(["language"]);
    expect(await raw(`${part("language")}${part("language")}--x--\r\n`, key)).toEqual(replayOf(first));
    expect(codeOf(await raw(`${part("url")}${part("url")}--x--\r\n`, key))).toBe("409 idempotency_key_reused");
    const digest = { "content-digest": `sha-256=:${Buffer.alloc(32).toString("base64")}:` };
    const second = newKey();
    const unfit = await raw(`${part("language")}--x--\r\n`, second, digest);
    expect(codeOf(unfit)).toBe("422 uploaded_file_cannot_be_processed");
    expect(await raw(`${part("language")}--x--\r\n`, second, digest)).toEqual(replayOf(unfit));
  });

  test("stores no 400, 401, 403, 409, 413 or 429, so that the key is free afterwards", async () => {
    using narrow = new ApiServer({
      recordingsPerAccount: 1,
      uploadBytes: 1000,
      limits: { creates_per_hour: 2, failed_authentications_per_minute: 5 },
    });
    const by = narrow.client("first");
    const reader = narrow.client("first", { scopes: ["transcriptions:read"] });
    const attempt = (form: CreateForm, who = by) => post(who, form, "the-key");
    const headers = { "idempotency-key": "the-key" };
    const bare = await by.fetch("/transcriptions", { method: "POST", body: "x", headers });
    expect(await refusalOf(bare)).toBe("400 bad_request");
    const keyless = await fetch(`${narrow.baseUrl}/transcriptions`, { method: "POST", headers });
    expect(await refusalOf(keyless)).toBe("401 missing_api_key");
    expect(await refusalOf(await attempt({ url: someUrl }, reader))).toBe("403 insufficient_scope");
    const big = { method: "POST", headers, body: new Uint8Array(1001 + 64 * 1024 * 1024) };
    expect(await refusalOf(await by.fetch("/transcriptions", big))).toBe("413 file_too_large");
    const waiting = narrow.enterQueued(by.accountId);
    expect(await refusalOf(await attempt({ url: someUrl }))).toBe("409 concurrency_limit");
    narrow.recordings.fail(waiting, { reason: "no_speech" });
    for (let count = 0; count < 2; count++) {
      const { id } = (await (await post(by, { url: someUrl })).json()) as { id: string };
      narrow.recordings.fail(id, { reason: "no_speech" });
    }
    expect(await refusalOf(await attempt({ url: someUrl }))).toBe("429 rate_limited");
    narrow.advance(hours(1));
    const taken = await answerOf(await attempt({ url: someUrl }));
    expect([taken.status, taken.replayed]).toEqual([201, null]);
  });

  test("stores no 503", async () => {
    const key = newKey();
    server.trouble = "the server is stopping";
    expect(codeOf(await send({ url: someUrl }, key))).toBe("503 service_unavailable");
    server.trouble = null;
    expect(await send({ url: someUrl }, key)).toMatchObject({ status: 201, replayed: null });
  });

  test("gives 409 idempotency_request_in_progress for every body while the first request is unanswered", async () => {
    const key = newKey();
    const upload = await SlowUpload.begin(server, client, await recording.bytes(), key);
    const before = entered();
    for (const form of [{ file: recording }, { url: someUrl }, {}]) {
      expect(codeOf(await send(form, key))).toBe("409 idempotency_request_in_progress");
    }
    const first = await answerOf(await upload.finish());
    expect(first.status).toBe(201);
    expect(await send({ file: recording }, key)).toEqual(replayOf(first));
    expect(entered()).toBe(before + 1);
  });

  test("accepts one of many simultaneous requests, and refuses the others as in progress", async () => {
    const key = newKey();
    const before = entered();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send({ file: recording }, key)));
    const created = answers.filter(({ status, replayed }) => status === 201 && replayed === null);
    expect(created).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 409) expect(codeOf(answer)).toBe("409 idempotency_request_in_progress");
      else expect({ ...answer, replayed: "true" }).toEqual(replayOf(created[0] ?? answer));
    }
    expect(entered()).toBe(before + 1);
  });

  test("replays the answer to many simultaneous requests", async () => {
    const key = newKey();
    const first = await send({ file: recording }, key);
    const replays = await Promise.all(Array.from({ length: 8 }, () => send({ file: recording }, key)));
    for (const replay of replays) expect(replay).toEqual(replayOf(first));
  });

  test("is free again after a lost upload, which leaves nothing behind", async () => {
    const key = newKey();
    const before = entered();
    const upload = await SlowUpload.begin(server, client, await recording.bytes(), key);
    await upload.vanish();
    while (server.filesIn("incoming").length > 0) await Bun.sleep(2);
    expect(entered()).toBe(before);
    let answer = await send({ url: someUrl }, key);
    // The file is removed a moment before the key is free.
    while (answer.status === 409) answer = await send({ url: someUrl }, key);
    expect(answer).toMatchObject({ status: 201, replayed: null });
  });

  test("is distinct for each workspace, for no workspace and for each account", async () => {
    const key = newKey();
    const sales = server.workspace("first", `sales-${key}`);
    const inSales = server.client("first", { workspace: sales });
    const sameSales = server.client("first", { workspace: sales });
    const legal = server.client("first", { workspace: server.workspace("first", `legal-${key}`) });
    const firsts = [];
    for (const by of [client, inSales, legal, server.client("second")]) {
      const first = await send({ url: someUrl }, key, by);
      expect([first.status, first.replayed]).toEqual([201, null]);
      firsts.push(first);
    }
    expect(new Set(firsts.map(({ body }) => JSON.parse(body).id)).size).toBe(4);
    expect(await send({ url: someUrl }, key, server.client("first"))).toEqual(replayOf(firsts[0] as Answer));
    expect(await send({ url: someUrl }, key, sameSales)).toEqual(replayOf(firsts[1] as Answer));
  });

  test("is stored for 24 hours, and free after that", async () => {
    const key = newKey();
    const first = await send({ url: someUrl }, key);
    server.advance(hours(24) - 1);
    expect(await send({ url: someUrl }, key)).toEqual(replayOf(first));
    server.advance(1);
    const second = await send({ url: `${someUrl}?other` }, key);
    expect([second.status, second.replayed]).toEqual([201, null]);
    expect(await send({ url: `${someUrl}?other` }, key)).toEqual(replayOf(second));
  });

  test("survives a restart", async () => {
    const key = newKey();
    const first = await send({ url: someUrl }, key);
    const refused = await send({ file: notAudio }, `${key}-refused`);
    await server.restart();
    expect(await send({ url: someUrl }, key)).toEqual(replayOf(first));
    expect(await send({ file: notAudio }, `${key}-refused`)).toEqual(replayOf(refused));
  });

  test("replays the answer after a crash between the record and the answer, with one recording", async () => {
    const key = newKey();
    const before = entered();
    server.onQueued = () => {
      throw new Error("the power is cut here");
    };
    expect(codeOf(await send({ file: recording }, key))).toBe("500 internal_error");
    server.onQueued = () => {};
    await server.restart();
    const again = await send({ file: recording }, key);
    expect([again.status, again.replayed]).toEqual([201, "true"]);
    expect(entered()).toBe(before + 1);
    const { id } = JSON.parse(again.body);
    expect(server.recordings.get(id)?.status).toBe("queued");
    expect(server.filesIn("uploads")).toContain(id);
  });

  test("is free after a crash before the record, and no file is left without a record", async () => {
    const key = newKey();
    const uploads = server.filesIn("uploads");
    await SlowUpload.begin(server, client, await recording.bytes(), key);
    await server.restart();
    while (server.filesIn("incoming").length > 0) await Bun.sleep(2);
    expect(await send({ url: someUrl }, key)).toMatchObject({ status: 201, replayed: null });
    expect(server.filesIn("uploads")).toEqual(uploads);
  });

  test("gives 404 after the recording was deleted, and 409 for another body", async () => {
    const key = newKey();
    const { id } = JSON.parse((await send({ url: someUrl }, key)).body);
    server.recordings.fail(id, { reason: "no_speech" });
    expect((await client.fetch(`/transcriptions/${id}`, { method: "DELETE" })).status).toBe(204);
    const before = entered();
    expect(codeOf(await send({ url: someUrl }, key))).toBe("404 not_found");
    expect(codeOf(await send({ url: `${someUrl}?other` }, key))).toBe("409 idempotency_key_reused");
    expect(entered()).toBe(before);
  });

  const syntax: [string, string, boolean][] = [
    ["one character", "!", true],
    ["255 characters", "~".repeat(255), true],
    ["all that is visible", String.fromCharCode(...Array.from({ length: 94 }, (_, at) => 33 + at)), true],
    ["nothing", "", false],
    ["256 characters", "a".repeat(256), false],
    ["a space", "a b", false],
    ["a tab", "a\tb", false],
    ["other than ASCII", "schlüssel", false],
  ];
  for (const [what, key, good] of syntax) {
    test(`a key of ${what} is ${good ? "one" : "422 under Idempotency-Key"}`, async () => {
      const answer = await send({ url: someUrl }, key);
      if (good) return expect(answer.status).toBe(201);
      expect(codeOf(answer)).toBe("422 validation_failed");
      expect(Object.keys(JSON.parse(answer.body).errors)).toEqual(["Idempotency-Key"]);
    });
  }

  test("is replayed whatever the limits on creates are, and uses up no quota", async () => {
    using narrow = new ApiServer({ recordingsPerAccount: 1, limits: { creates_per_hour: 1, creates_per_day: 1 } });
    const by = narrow.client("first");
    const first = await answerOf(await post(by, { url: someUrl }, "a"));
    const refused = await answerOf(await post(by, { url: someUrl }, "b"));
    expect(codeOf(refused)).toBe("429 rate_limited");
    for (let count = 0; count < 3; count++) {
      expect(await answerOf(await post(by, { url: someUrl }, "a"))).toEqual(replayOf(first));
    }
    expect(
      narrow.usage.creates(by.accountId, { limit: 10, windowMilliseconds: hours(1) }, narrow.now()).remaining,
    ).toBe(9);
  });

  test("is ignored on other requests", async () => {
    const headers = { "idempotency-key": "a b" };
    expect((await client.fetch("/transcriptions", { headers })).status).toBe(200);
    expect((await client.fetch("/transcriptions", { method: "DELETE", headers })).status).toBe(405);
  });
});
