import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { errorOf, type TestClient } from "../../harness/client.ts";
import type { Segment } from "../../harness/contract.ts";
import { canSeeProcesses } from "../../harness/processes.ts";
import { makeRecordingOfChunks, sampleRecordingNeeds } from "../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { canMount, SmallDisk } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { interrupt } from "../support/interrupted-recording.ts";
import { tinyLanguage, tinyRecognizer } from "../support/tiny-recognizer.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("e2e tests of full disks", jfk, ...sampleRecordingNeeds);
const chunks = 4;
const prlimit = Bun.which("prlimit");
if (prlimit === null) console.warn("SKIPPED: e2e tests with few open files; missing: prlimit");

const readyz = async (server: TestServer) => {
  const response = await fetch(`${server.origin}/readyz`);
  return { status: response.status, text: await response.text() };
};

/** Returns the log lines of recordings that started to wait, since a line of the log. */
const waits = (server: TestServer, since: number) =>
  server.log.slice(since).filter(({ event }) => event === "recording.waits");

/** Tests that mount small disks are skipped without the privilege. */
describe.if(ready)("recordings on a machine that is short of disk space or files", () => {
  const folder = temporaryDirectory();
  const server = new TestServer({
    ...tinyRecognizer(),
    TRANSCRIBE_STORAGE_RESERVE_BYTES: "8 MiB",
    TRANSCRIBE_FETCH_ALLOW: "127.0.0.1/32",
  });
  const disks: SmallDisk[] = [];
  let disk: SmallDisk;
  let client: TestClient;
  let long = "";
  let expected: Segment[] = [];
  let host: ReturnType<typeof Bun.serve>;

  beforeAll(async () => {
    host = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(Bun.file(jfk)) });
    if (canMount) {
      disk = new SmallDisk(server.dataDirectory, "size=64m,mode=700");
      disks.push(disk);
    }
    const work = join(server.dataDirectory, "work");
    mkdirSync(work, { mode: 0o700 });
    long = await makeRecordingOfChunks(folder.path, chunks);
    await server.start();
    client = server.client("disk");
    const { ended, segments } = await client.transcribe(long, tinyLanguage);
    expect(ended.status).toBe("completed");
    await server.untilCleanedUp();
    expected = segments;
  }, startTimeout * 2);
  afterAll(async () => {
    await server.stop();
    for (const each of disks.toReversed()) each[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
    await host.stop(true);
  });

  const completesUnchanged = async (id: string) => {
    expect(await client.waitUntilEnded(id, 50)).toMatchObject({ status: "completed", duration_seconds: 32 });
    expect(await client.segments(id)).toEqual(expected);
  };
  const isConsistent = async () => {
    await server.untilCleanedUp();
    using database = new Database(join(server.dataDirectory, "transcribe.db"), { readonly: true });
    expect(database.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    expect(readdirSync(join(server.dataDirectory, "incoming"))).toEqual([]);
  };

  test.if(canMount)(
    "wait while the disk is full and complete afterwards; uploads are answered 503 meanwhile, and reads succeed",
    server.showingLog(async () => {
      const since = server.log.length;
      const first = await interrupt(server, client, long, chunks);
      using _ = first.worker;
      const link = new FormData();
      link.set("url", `http://127.0.0.1:${host.port}/jfk.mp3`);
      link.set("language", "en");
      const second = await client.fetch("/transcriptions", { method: "POST", body: link });
      expect(second.status).toBe(201);
      disk.fill();
      first.worker.resume();
      await server.until(() => {
        disk.fill();
        return waits(server, since).length >= 2;
      });
      const refused = await client.send(jfk);
      expect((await errorOf(refused, 503)).error).toBe("service_unavailable");
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await readyz(server)).toEqual({ status: 503, text: expect.stringContaining("disk is full") });
      const metrics = await (await fetch(`${server.origin}/metrics`)).text();
      expect(metrics).toMatch(/transcribe_recordings_stalled\{trouble="(disk_full|no_room)"\} [1-9]/);
      expect(["queued", "processing", "completed"]).toContain((await client.get(first.id)).status);
      disk.empty();
      await completesUnchanged(first.id);
      const { data } = JSON.parse(await (await client.fetch("/transcriptions?status=queued,processing")).text());
      for (const { id } of data) expect((await client.waitUntilEnded(id, 50)).status).toBe("completed");
      expect(JSON.parse(await (await client.fetch("/transcriptions?status=failed")).text()).data).toEqual([]);
      await server.until(async () => (await readyz(server)).status === 200);
      await isConsistent();
    }),
    180_000,
  );

  test.if(canMount)(
    "wait while the work area is read-only",
    server.showingLog(async () => {
      const work = new SmallDisk(join(server.dataDirectory, "work"), "size=32m,mode=700");
      disks.push(work);
      work.remount("ro");
      const since = server.log.length;
      const { id } = await client.create(jfk, tinyLanguage);
      await server.until(() => waits(server, since).length >= 1);
      expect(waits(server, since)[0]).toMatchObject({ recordingId: id, trouble: "read_only" });
      expect(await readyz(server)).toEqual({ status: 503, text: expect.stringContaining("read-only") });
      expect(["queued", "processing"]).toContain((await client.get(id)).status);
      work.remount("rw");
      expect((await client.waitUntilEnded(id, 50)).status).toBe("completed");
      await server.until(async () => (await readyz(server)).status === 200);
      await isConsistent();
    }),
    180_000,
  );

  test.if(canMount)(
    "wait while the work area has no free inodes",
    server.showingLog(async () => {
      const work = new SmallDisk(join(server.dataDirectory, "work"), "size=32m,nr_inodes=2,mode=700");
      disks.push(work);
      const since = server.log.length;
      const { id } = await client.create(jfk, tinyLanguage);
      await server.until(() => waits(server, since).length >= 1);
      expect(waits(server, since)[0]).toMatchObject({ recordingId: id, trouble: "disk_full" });
      Bun.spawnSync(["mount", "-o", "remount,nr_inodes=1000", join(server.dataDirectory, "work")]);
      expect((await client.waitUntilEnded(id, 50)).status).toBe("completed");
      await isConsistent();
    }),
    180_000,
  );

  const hasEnded = (id: string) => {
    using database = new Database(join(server.dataDirectory, "transcribe.db"), { readonly: true });
    const ended = database.query("SELECT id FROM recordings WHERE id = ? AND status IN ('completed', 'failed')");
    return ended.all(id).length > 0;
  };
  const setFileLimit = (files: number) => Bun.spawnSync(["prlimit", "--pid", String(server.pid), `--nofile=${files}:`]);

  test.if(canSeeProcesses && prlimit !== null)(
    "wait until more files are allowed, while the server continues to run",
    server.showingLog(async () => {
      const since = server.log.length;
      let id = "";
      // The server may be faster than this process. Meanwhile it accepts no request.
      do {
        setFileLimit(1024);
        ({ id } = await client.create(jfk, tinyLanguage));
        setFileLimit(8);
        await server.until(() => waits(server, since).length >= 1 || hasEnded(id));
      } while (waits(server, since).length === 0);
      expect(waits(server, since)[0]).toMatchObject({ recordingId: id, trouble: "too_many_files" });
      setFileLimit(1024);
      expect((await client.waitUntilEnded(id, 50)).status).toBe("completed");
    }),
    180_000,
  );
});
