import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { errorOf, TestClient } from "../../harness/client.ts";
import { canSeeProcesses } from "../../harness/processes.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { StoppedWorker } from "../support/interrupted-recording.ts";
import { tinyLanguage, tinyRecognizer } from "../support/tiny-recognizer.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("e2e tests of backups", jfk) && canSeeProcesses;
if (!canSeeProcesses) console.warn("SKIPPED: e2e tests of backups; they need /proc");

/** Returns all that the API returns of a finished recording. */
async function responsesOf(client: TestClient, id: string) {
  const read = async (path: string) => {
    const response = await client.fetch(path);
    return [path, response.status, response.headers.get("etag"), await response.text()];
  };
  const exports = ["txt", "srt", "vtt", "pdf", "docx"].map((format) => `/transcriptions/${id}/export?format=${format}`);
  const paths = [`/transcriptions/${id}`, `/transcriptions/${id}/segments?limit=1000`, ...exports];
  return Promise.all(paths.map(read));
}

async function idsOf(client: TestClient): Promise<string[]> {
  const { data } = JSON.parse(await (await client.fetch("/transcriptions")).text());
  return data.map(({ id }: { id: string }) => id);
}

describe.if(ready)("a backup that was made while five recordings were unfinished", () => {
  const server = new TestServer(tinyRecognizer());
  const restored = new TestServer(tinyRecognizer());
  const folder = temporaryDirectory();
  const file = join(folder.path, "backup.tar");
  let key = "";
  let done = "";
  let created = "";
  const open: string[] = [];
  const stopped = new DisposableStack();

  const form = () => {
    const body = new FormData();
    body.set("file", Bun.file(jfk), "stored.mp3");
    body.set("language", tinyLanguage.language);
    return { method: "POST", headers: { "idempotency-key": "stored" }, body };
  };

  beforeAll(async () => {
    await server.start();
    const client = server.client("backup");
    key = client.key;
    const first = await client.fetch("/transcriptions", form());
    created = await first.text();
    done = JSON.parse(created).id;
    expect((await client.waitUntilEnded(done, 50)).status).toBe("completed");
    // None of them may finish before the backup.
    stopped.use(new StoppedWorker(server));
    for (let count = 0; count < 5; count++) open.push((await client.create(jfk, tinyLanguage)).id);
    await server.until(async () => (await client.get(open[0] ?? "")).status === "processing");
  }, startTimeout * 2);
  afterAll(async () => {
    stopped.dispose();
    await server[Symbol.asyncDispose]();
    await restored[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  test(
    "restores recordings, exports, keys and stored idempotent responses elsewhere, and its unfinished recordings complete",
    restored.showingLog(async () => {
      const made = await server.cli("backup", file, "--json");
      expect([made.exitCode, JSON.parse(made.stdout)]).toMatchObject([
        0,
        { recordings: 6, open: 5, uploads: { files: 6 } },
      ]);
      expect(readdirSync(folder.path)).toEqual(["backup.tar"]);
      const into = await restored.cli("restore", file, "--json");
      expect([into.exitCode, JSON.parse(into.stdout)]).toMatchObject([0, { recordings: 6, open: 5, uploads: 6 }]);
      expect(await restored.cli("restore", file)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining("is not empty: it has transcribe.db"),
      });
      const before = new TestClient(server.baseUrl, key);
      const [responses, ids, segments] = [
        await responsesOf(before, done),
        await idsOf(before),
        await before.segments(done),
      ];
      // The unfinished recordings are of the same audio as the finished one.
      await server.killHard();
      stopped.dispose();
      await restored.start();
      const after = new TestClient(restored.baseUrl, key);
      for (const id of open) {
        expect((await after.waitUntilEnded(id, 50)).status).toBe("completed");
        expect(await after.segments(id)).toEqual(segments);
      }
      expect(await responsesOf(after, done)).toEqual(responses);
      const replayed = await after.fetch("/transcriptions", form());
      expect([replayed.status, replayed.headers.get("idempotency-replayed"), await replayed.text()]).toEqual([
        201,
        "true",
        created,
      ]);
      expect(await idsOf(after)).toEqual(ids);
      expect(
        (await errorOf(await new TestClient(restored.baseUrl, `${key}x`).fetch("/transcriptions"), 401)).error,
      ).toBe("invalid_api_key");
      // The server removes the files of exports shortly after the responses.
      await restored.until(() => readdirSync(join(restored.dataDirectory, "incoming")).length === 0);
      await restored.untilCleanedUp();
      expect(readdirSync(join(restored.dataDirectory, "uploads")).toSorted()).toEqual([done, ...open].toSorted());
    }),
    180_000,
  );
});
