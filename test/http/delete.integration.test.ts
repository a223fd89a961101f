import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { Checkpoints } from "../../src/recordings/index.ts";
import type { Segment } from "../../src/segments/index.ts";
import { post } from "../support/forms.ts";
import { ApiServer, type KeyClient } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";

const jfk = samplePath("jfk.mp3");
/** A unique word in the transcript and in the name of the recording. */
const marker = "Xylophonquartett";

describe("DELETE /transcriptions/{id}", () => {
  let server: ApiServer;
  let client: KeyClient;
  beforeEach(() => {
    server = new ApiServer();
    client = server.client("first");
  });
  afterEach(() => server[Symbol.dispose]());

  const remove = (id: string, by = client) => by.fetch(`/transcriptions/${id}`, { method: "DELETE" });

  /** Creates all data that a processed recording has, with the marker in each part. */
  const fill = (id: string) => {
    writeFileSync(server.dataDirectory.localAudio.pathOf(id), `audio ${marker}`);
    mkdirSync(server.dataDirectory.filesOf(id).work, { recursive: true });
    writeFileSync(join(server.dataDirectory.filesOf(id).work, "pcm.raw"), `samples ${marker}`);
    new Checkpoints(server.store, id).write("transcribe", 0, Type.String(), `words ${marker}`);
    const segments = Array.from({ length: 300 }, (_, index): Segment => {
      const text = `${marker} ${index} ${"and so on ".repeat(20)}`.trim();
      const word = { text: ` ${marker}`, startSeconds: index, endSeconds: index + 0.5, probability: 0.9 };
      return { index, startSeconds: index, endSeconds: index + 0.5, speaker: 0, text, words: [word] };
    });
    return segments;
  };

  test("answers 204 without a body, and the recording can't be read, listed or deleted again", async () => {
    const id = server.enterCompleted(client.accountId, 3);
    const other = server.enterCompleted(client.accountId, 1);
    const response = await remove(id);
    expect([response.status, await response.text()]).toEqual([204, ""]);
    for (const path of ["", "/segments", "/export?format=txt"]) {
      expect(await refusalOf(await client.fetch(`/transcriptions/${id}${path}`))).toBe("404 not_found");
    }
    expect(await refusalOf(await remove(id))).toBe("404 not_found");
    const list = await (await client.fetch("/transcriptions")).text();
    expect([list.includes(id), list.includes(other)]).toEqual([false, true]);
  });

  test("leaves nothing of the audio, the text or the name in any file, including the database and its log", async () => {
    const id = server.enterProcessing(client.accountId, { sourceName: `talk of ${marker}` });
    server.recordings.complete(id, fill(id));
    expect(server.filesHolding(marker).length).toBeGreaterThan(2);
    expect((await remove(id)).status).toBe(204);
    expect(server.filesHolding(marker)).toEqual([]);
    expect([server.filesIn("uploads"), server.filesIn("work")]).toEqual([[], []]);
  });

  test("leaves nothing of a failed recording, and does not touch other recordings", async () => {
    const other = server.enterProcessing(client.accountId);
    server.recordings.complete(other, fill(other));
    const id = server.enterProcessing(client.accountId);
    fill(id);
    server.recordings.fail(id, { reason: "internal", cause: "engine_crashed" });
    expect((await remove(id)).status).toBe(204);
    expect(server.filesIn("uploads")).toEqual([other]);
    const page = await (await client.fetch(`/transcriptions/${other}/segments?limit=1000`)).text();
    expect(page.split(marker)).toHaveLength(301);
  });

  test("is completed at the next start after a crash in the middle, and the rest is invisible until then", async () => {
    const id = server.enterProcessing(client.accountId, { sourceName: `talk of ${marker}` });
    server.recordings.complete(id, fill(id));
    server.recordings.delete(id);
    await server.restart();
    expect(await refusalOf(await client.fetch(`/transcriptions/${id}`))).toBe("404 not_found");
    server.dataDirectory.cleanUp((ids) => server.recordings.open.areOpen(ids));
    await server.recordings.rows.removeDeleted(server.recordings.deletedIds());
    expect(server.filesHolding(marker)).toEqual([]);
  });

  test("of a long recording takes a while, in which it is invisible and other requests are answered", async () => {
    const other = server.enterCompleted(client.accountId, 1);
    const id = server.enterCompleted(client.accountId, 8000);
    let isRemoved = false;
    const removed = remove(id).then((response) => {
      isRemoved = true;
      return response.status;
    });
    const seen = new Set<string>();
    while (!isRemoved) {
      const [first, second] = await Promise.all([id, other].map((each) => client.fetch(`/transcriptions/${each}`)));
      if (!isRemoved) seen.add(`${first?.status} ${second?.status}`);
    }
    expect(await removed).toBe(204);
    expect([...seen]).toContain("404 200");
    expect([...seen].every((statuses) => /^(200|404) 200$/.test(statuses))).toBe(true);
  });

  test("ends an export in progress with 404 instead of half a file", async () => {
    const id = server.enterCompleted(client.accountId, 3000);
    const exported = client.fetch(`/transcriptions/${id}/export?format=pdf`);
    await Bun.sleep(20);
    expect((await remove(id)).status).toBe(204);
    expect(await refusalOf(await exported)).toBe("404 not_found");
  });

  test.if(available("deleting a recording that was created", ffmpegPath, jfk))(
    "empties the stored answer of its Idempotency-Key",
    async () => {
      const response = await post(client, { file: Bun.file(jfk), name: `${marker}.mp3` }, "the-key");
      const { id } = (await response.json()) as { id: string };
      server.recordings.fail(id, { reason: "no_speech" });
      expect(server.filesHolding(marker)).not.toEqual([]);
      expect((await remove(id)).status).toBe(204);
      expect(server.filesHolding(marker)).toEqual([]);
      const again = await post(client, { file: Bun.file(jfk), name: `${marker}.mp3` }, "the-key");
      expect(await refusalOf(again)).toBe("404 not_found");
    },
  );

  test("is refused with 409 while the recording is queued or processing, which continues", async () => {
    const queued = server.enterQueued(client.accountId);
    const processing = server.enterProcessing(client.accountId);
    for (const id of [queued, processing]) {
      expect(await refusalOf(await remove(id))).toBe("409 transcription_still_processing");
      expect((await client.fetch(`/transcriptions/${id}`)).status).toBe(200);
    }
    server.recordings.fail(queued, { reason: "quota_exceeded" });
    expect((await remove(queued)).status).toBe(204);
  });

  test("is refused with 403 while the operator protects the recording, which stays readable", async () => {
    const id = server.enterCompleted(client.accountId, 1);
    server.recordings.setHold(id, true);
    for (let count = 0; count < 2; count++) expect(await refusalOf(await remove(id))).toBe("403 forbidden");
    expect((await client.fetch(`/transcriptions/${id}/segments`)).status).toBe(200);
    server.recordings.setHold(id, false);
    expect((await remove(id)).status).toBe(204);
  });

  test("succeeds once if two requests delete at the same time", async () => {
    const id = server.enterCompleted(client.accountId, 1);
    const statuses = (await Promise.all([remove(id), remove(id)])).map(({ status }) => status).sort();
    expect(statuses).toEqual([204, 404]);
  });

  const bodies: [string, RequestInit][] = [
    ["broken JSON", { body: "{", headers: { "content-type": "application/json" } }],
    ["a broken form", { body: "x", headers: { "content-type": "multipart/form-data" } }],
    ["an unknown type", { body: "x", headers: { "content-type": "x/y" } }],
  ];
  test.each(bodies)("ignores a body of %s", async (_, init) => {
    const id = server.enterCompleted(client.accountId, 1);
    expect((await client.fetch(`/transcriptions/${id}`, { method: "DELETE", ...init })).status).toBe(204);
  });
});
