import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { Bucket } from "../../src/storage/bucket.ts";
import { motoPackages, ObjectStore } from "../support/object-store.ts";
import { tinyLanguage, tinyRecognizer } from "../support/tiny-recognizer.ts";

setDefaultTimeout(120_000);

const jfk = samplePath("jfk.mp3");
const ready = available("e2e tests with an object store", jfk) && motoPackages !== null;

describe.if(ready)("a server with its audio in an object store", () => {
  const folder = temporaryDirectory();
  let store: ObjectStore;
  let bucket: Bucket;
  let server: TestServer;

  beforeAll(async () => {
    store = await ObjectStore.start();
    const { endpoint, credentials, authority, ...rest } = store.options({ prefix: "acme/" });
    const file = (name: string, text: string) => {
      writeFileSync(join(folder.path, name), text);
      return join(folder.path, name);
    };
    const { accessKeyId, secretAccessKey } = credentials;
    const key = `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`;
    bucket = new Bucket({ ...rest, endpoint, credentials, authority });
    server = new TestServer({
      ...tinyRecognizer(),
      TRANSCRIBE_STORAGE_AUDIO: "s3://audio/acme",
      TRANSCRIBE_S3_ENDPOINT: endpoint,
      TRANSCRIBE_S3_CREDENTIALS_FILE: file("key", key),
      TRANSCRIBE_S3_CA_FILE: file("ca.pem", authority ?? ""),
    });
    await server.start();
  }, startTimeout);
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await store?.[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const isHere = (id: string) => existsSync(join(server.dataDirectory, "uploads", id));
  /** Waits until the bucket has the audio of exactly these recordings. */
  const untilStored = (...ids: readonly string[]) =>
    server.until(async () => (await bucket.list()).filter((name) => name !== "owner").join() === ids.join(), 200);
  /** Moves the end of a recording into the past, from which on its audio no longer stays here. */
  const endedLongAgo = (id: string) => {
    using database = new Database(join(server.dataDirectory, "transcribe.db"));
    database.run("PRAGMA busy_timeout = 5000");
    database.run("UPDATE recordings SET ended_at = ended_at - 3600000 WHERE id = ?", [id]);
  };

  test("moves it there, and processes a recording again from it after a kill", async () => {
    let client = server.client("acme");
    const { id } = await client.create(jfk, tinyLanguage);
    await client.waitUntilEnded(id, 50);
    const segments = await client.segments(id);
    await untilStored(id);
    endedLongAgo(id);
    await server.until(() => !isHere(id), 100);
    await server.killHard();
    await server.start();
    client = server.client("again");
    expect((await server.cli("doctor", "--json")).stdout).toContain("/audio/acme/");
    expect(await server.cli("recordings", "process", id)).toMatchObject({ exitCode: 0 });
    await server.until(() => server.log.filter(({ event }) => event === "recording.completed").length === 2);
    await server.until(() => readdirSync(join(server.dataDirectory, "incoming")).length === 0);
    expect(segments.length).toBeGreaterThan(0);
    expect((await server.cli("recordings", "delete", id)).exitCode).toBe(0);
    await untilStored();
  });

  test("accepts and processes recordings during an outage and a kill, and loses and restores nothing", async () => {
    const client = server.client("outage");
    const { id: kept } = await client.create(jfk, tinyLanguage);
    const { id: deleted } = await client.create(jfk, tinyLanguage);
    for (const id of [kept, deleted])
      expect(await client.waitUntilEnded(id, 50)).toMatchObject({ status: "completed" });
    await untilStored(kept, deleted);
    store.isDown = true;
    expect((await client.fetch(`/transcriptions/${deleted}`, { method: "DELETE" })).status).toBe(204);
    const { id: sent } = await client.create(jfk, tinyLanguage);
    expect(await client.waitUntilEnded(sent, 50)).toMatchObject({ status: "completed" });
    await server.until(() => server.log.some(({ event }) => event === "audio_store.failed"), 100);
    await server.killHard();
    store.isDown = false;
    await server.start();
    await untilStored(kept, sent);
    expect([isHere(sent), isHere(deleted)]).toEqual([true, false]);
  });
});
