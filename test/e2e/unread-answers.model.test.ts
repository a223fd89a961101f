import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { available, ffmpegPath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { newRecording } from "../../harness/new-recording.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { openDatabaseOf } from "../../src/database/index.ts";
import { createKey } from "../../src/keys/index.ts";
import { newRecordingId, Recordings } from "../../src/recordings/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { longSegments } from "../support/long-segments.ts";
import { tinyRecognizer } from "../support/tiny-recognizer.ts";
import { UnreadResponse } from "../support/unread-response.ts";

const ready = available("e2e tests of responses that no client reads", ffmpegPath);
const mebibyte = 1024 * 1024;
/** Below the limit of 16 open exports per account. */
const [accounts, responsesEach] = [4, 15];

describe.if(ready)("responses that no client reads", () => {
  const server = new TestServer(tinyRecognizer());
  const keys: { readonly key: string; readonly id: string }[] = [];
  const urlOf = (id: string, path: string) => `${server.baseUrl}/transcriptions/${id}/${path}`;
  const files = () => readdirSync(join(server.dataDirectory, "incoming"));
  const residentBytes = () =>
    Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) * 1024;

  beforeAll(async () => {
    const store = openDatabaseOf(new DataDirectory(server.dataDirectory));
    const recordings = new Recordings(store, Date.now);
    const segments = longSegments(5000);
    const by = { actor: "test", now: Date.now() };
    for (let index = 0; index < accounts; index++) {
      const account = createAccount(store, `account-${index}`, by);
      const { id } = recordings.create(newRecording(newRecordingId(Date.now()), account.id));
      recordings.claim(id);
      recordings.complete(id, segments);
      keys.push({ id, key: createKey(store, account, { name: "test" }, by).secret });
    }
    store.$client.close();
    await server.start(false);
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  /** Returns the growth of the server's memory with 60 open responses, after responses that were read. */
  async function memoryGrowth(path: string): Promise<number> {
    for (let count = 0; count < 4; count++) {
      for (const { key, id } of keys) {
        const read = await new TestClient(server.baseUrl, key).fetch(`/transcriptions/${id}/${path}`);
        expect((await read.bytes()).length).toBeGreaterThan(mebibyte);
      }
    }
    const before = residentBytes();
    using unread = new DisposableStack();
    for (let count = 0; count < responsesEach; count++) {
      const opened = await Promise.all(keys.map(({ key, id }) => UnreadResponse.of(urlOf(id, path), key)));
      for (const response of opened) expect(unread.use(response).status).toBe(200);
    }
    return residentBytes() - before;
  }

  test("take no memory when they are exports: 60 of 5 MB", async () => {
    expect(await memoryGrowth("export?format=txt")).toBeLessThan(150 * mebibyte);
    await server.until(() => files().length === 0);
  }, 300_000);

  test(
    "leave no file behind when the server is killed, and neither do exports in progress",
    async () => {
      const { key, id } = keys[0] ?? { key: "", id: "" };
      using _unread = await UnreadResponse.of(urlOf(id, "export?format=txt"), key);
      const lost = new TestClient(server.baseUrl, key)
        .fetch(`/transcriptions/${id}/export?format=pdf`)
        .catch(() => null);
      await server.until(() => files().some((name) => name.endsWith(".jsonl")), 1);
      await server.killHard();
      expect(await lost).toBeNull();
      expect(files().filter((name) => name.startsWith("export-")).length).toBeGreaterThan(1);
      await server.start(false);
      expect(files()).toEqual([]);
    },
    startTimeout,
  );
});
