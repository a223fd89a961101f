import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { bodyOf, errorOf } from "../../harness/client.ts";
import { transcriptionContract } from "../../harness/contract.ts";
import { FILE_PART } from "../support/forms.ts";
import { ApiServer } from "../support/http.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("tests of POST /transcriptions", ffmpegPath, jfk);

describe.if(ready)("POST /transcriptions", () => {
  const server = new ApiServer({ recordingsPerAccount: 1000 });
  const client = server.client("first");
  const recording = Bun.file(jfk);
  afterAll(() => server[Symbol.dispose]());
  // Whatever the answer was: no unfinished upload is left, and every stored upload has its record.
  afterEach(() => {
    expect(server.filesIn("incoming")).toEqual([]);
    expect(server.filesIn("uploads").sort()).toEqual([...server.queued].sort());
  });

  /** Returns a form with parts in order. A part may occur twice. */
  type Part = [name: string, value: string | Blob, fileName?: string];
  const post = (...parts: Part[]) => {
    const body = new FormData();
    for (const [name, value, fileName] of parts) {
      if (typeof value === "string") body.append(name, value);
      else body.append(name, value, fileName);
    }
    return client.fetch("/transcriptions", { method: "POST", body });
  };

  test("answers a recording with 201, its location and an empty record", async () => {
    const response = await post(["file", recording, "Team meeting.final.mp3"]);
    const created = await bodyOf(response, 201, transcriptionContract);
    expect(response.headers.get("location")).toBe(`/api/public/v1/transcriptions/${created.id}`);
    expect(created).toMatchObject({
      status: "queued",
      title: null,
      language: null,
      duration_seconds: null,
      source: { type: "file", name: "Team meeting.final", url: null },
      workspace: null,
      progress: { step: null, percent: null, indeterminate: false },
      failure_reason: null,
    });
    expect(created.updated_at).toBe(created.created_at);
    expect(await client.get(created.id)).toEqual(created);
    expect(server.queued).toContain(created.id);
  });

  test("creates ids that sort by creation", async () => {
    const ids = [];
    for (let count = 0; count < 4; count++) ids.push((await client.create(jfk)).id);
    expect(ids.toSorted()).toEqual(ids);
  });

  test("accepts a language in upper and lower case and shows it from the start", async () => {
    for (const code of ["de", "DE", "De"]) expect((await client.create(jfk, { language: code })).language).toBe("de");
    expect((await client.create(jfk, { language: "jv" })).language).toBe("jv");
  });

  test("ignores unknown parts", async () => {
    const response = await post(["colour", "blue"], ["file", recording, "a.mp3"], ["colour", "red"]);
    expect(response.status).toBe(201);
  });

  const file: Part = ["file", recording, "a.mp3"];
  const url = (text: string): Part => ["url", text];
  const language = (text: string): Part => ["language", text];
  const invalid: [string, string, Part[]][] = [
    ["neither file nor url", "url", [language("en")]],
    ["both file and url", "url", [file, url("https://media.example/a.mp3")]],
    ["a url of another scheme", "url", [url("ftp://media.example/a.mp3")]],
    ["a url that is none", "url", [url("media.example/a.mp3")]],
    ["a url with credentials", "url", [url("https://user:secret@media.example/a.mp3")]],
    ["a url of this machine", "url", [url("http://127.0.0.1:8080/a.mp3")]],
    ["a url of this machine, spelled oddly", "url", [url("http://0x7f.1/a.mp3")]],
    ["a url that is too long", "url", [url(`https://media.example/${"a".repeat(2048)}`)]],
    ["a language that is none", "language", [file, language("xx")]],
    ["a language by its name", "language", [file, language("English")]],
    ["the model's own code of a language", "language", [file, language("jw")]],
    ["an empty language", "language", [file, language("")]],
    ["two files", "file", [file, ["file", recording, "b.mp3"]]],
    ["two languages", "language", [language("en"), file, language("en")]],
    ["two urls", "url", [url("https://media.example/a"), url("https://media.example/a")]],
    ["an empty file", "file", [["file", new Blob([]), "a.mp3"]]],
    ["a text", "file", [["file", new Blob(["hello, this is no recording"]), "a.mp3"]]],
    ["a file that is sent as a text", "file", [["file", "hello"]]],
  ];
  for (const [what, field, parts] of invalid) {
    test(`${what}: 422 under ${field}, and nothing is entered`, async () => {
      const before = server.queued.length;
      const { error, errors } = await errorOf(await post(...parts), 422);
      expect(error).toBe("validation_failed");
      expect(Object.keys(errors ?? {})).toEqual([field]);
      expect(server.queued).toHaveLength(before);
    });
  }

  const unreadable: [string, RequestInit][] = [
    ["no body", {}],
    ["JSON", { body: "{}", headers: { "content-type": "application/json" } }],
    ["a bare recording", { body: recording, headers: { "content-type": "audio/mpeg" } }],
    ["a form of the other kind", { body: "url=x", headers: { "content-type": "application/x-www-form-urlencoded" } }],
    ["multipart without a boundary", { body: "--x--", headers: { "content-type": "multipart/form-data" } }],
    [
      "multipart that never begins",
      { body: "nothing", headers: { "content-type": "multipart/form-data; boundary=x" } },
    ],
  ];
  for (const [what, init] of unreadable) {
    test(`${what}: 400 bad_request`, async () => {
      const { error } = await errorOf(await client.fetch("/transcriptions", { method: "POST", ...init }), 400);
      expect(error).toBe("bad_request");
    });
  }

  test("refuses a truncated form with 422 uploaded_file_cannot_be_processed, and stores nothing", async () => {
    const body = Buffer.concat([Buffer.from(FILE_PART), Buffer.from(await recording.bytes())]);
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    const response = await client.fetch("/transcriptions", { method: "POST", body, headers });
    expect((await errorOf(response, 422)).error).toBe("uploaded_file_cannot_be_processed");
  });

  test("refuses a wrong Content-Digest with 422 uploaded_file_cannot_be_processed, and accepts a right one", async () => {
    const body = Buffer.concat([
      Buffer.from(FILE_PART),
      Buffer.from(await recording.bytes()),
      Buffer.from("\r\n--x--\r\n"),
    ]);
    const send = (digestOf: Uint8Array) => {
      const digest = new Bun.CryptoHasher("sha256").update(digestOf).digest("base64");
      const headers = { "content-type": "multipart/form-data; boundary=x", "content-digest": `sha-256=:${digest}:` };
      return client.fetch("/transcriptions", { method: "POST", body, headers });
    };
    expect((await errorOf(await send(body.subarray(1)), 422)).error).toBe("uploaded_file_cannot_be_processed");
    expect((await send(body)).status).toBe(201);
  });

  test("never names a file, a path or the sent values in its answer", async () => {
    const response = await post(["file", new Blob(["hello, this is no recording"]), "secret-name.mp3"]);
    const text = await response.text();
    for (const hidden of ["secret-name", "incoming", "/tmp", ".part", "ffmpeg", "hello"])
      expect(text).not.toContain(hidden);
  });
});
