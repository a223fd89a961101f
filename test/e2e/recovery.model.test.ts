import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { errorOf, spokenText, TestClient } from "../../harness/client.ts";
import type { Segment } from "../../harness/contract.ts";
import { canSeeProcesses, childrenOf, isAlive } from "../../harness/processes.ts";
import { makeRecordingOfChunks, sampleRecordingNeeds } from "../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

const ready = available("e2e tests of recovery", ...sampleRecordingNeeds);
if (!canSeeProcesses) console.warn("SKIPPED: e2e tests that kill workers; they need /proc");

/** Returns the finished parts of a step by the log, in order. A part that was processed twice is listed twice. */
function loggedParts(log: TestServer["log"], step: string): number[] {
  return log
    .filter((line) => line.event === "recording.part_finished" && line.step === step)
    .map((line) => Number(line.part))
    .sort((a, b) => a - b);
}

/** Returns the parts of a step that the database contains. */
function storedParts(server: TestServer, step: string): number[] {
  using database = new Database(join(server.dataDirectory, "transcribe.db"));
  return database
    .query<{ part: number }, [string]>("SELECT part FROM checkpoints WHERE step = ? ORDER BY part")
    .all(step)
    .map((row) => row.part);
}

describe.if(ready)("an interrupted recording", () => {
  const server = new TestServer();
  const directory = temporaryDirectory();
  let key = "";
  let long = "";
  let expected: Segment[] = [];
  let chunks: number[] = [];
  let logged = 0;

  /** Returns a client of the present server, whose port changes with each start. */
  const client = () => new TestClient(server.baseUrl, key);

  /** Uploads the long recording and waits until some of its chunks are transcribed. */
  const begin = async (): Promise<string> => {
    const { id } = await client().create(long, { language: "en" });
    await server.until(() => storedParts(server, "transcribe").length >= 1);
    expect(storedParts(server, "transcribe").length).toBeLessThan(chunks.length);
    return id;
  };

  const completesUnchanged = async (id: string) => {
    expect(await client().waitUntilEnded(id)).toMatchObject({ status: "completed", duration_seconds: 50 });
    expect(await client().segments(id)).toEqual(expected);
    await server.untilCleanedUp();
  };

  beforeAll(async () => {
    long = await makeRecordingOfChunks(directory.path, 6);
    await server.start();
    key = server.client("recovery").key;
    const { ended, segments } = await client().transcribe(long, { language: "en" });
    expect(ended.status).toBe("completed");
    expected = segments;
    chunks = loggedParts(server.log, "transcribe");
    expect(chunks).toEqual([0, 1, 2, 3, 4, 5]);
  }, startTimeout * 2);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });
  beforeEach(() => {
    logged = server.log.length;
  });
  afterEach(async () => {
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
  });

  /** Returns the chunks that all processes together have transcribed since the test began. */
  const loggedChunks = () => loggedParts(server.log.slice(logged), "transcribe");

  test.if(canSeeProcesses)(
    "loses no word when the worker is killed: the server starts another worker",
    server.showingLog(async () => {
      const serverPid = server.pid;
      const id = await begin();
      const [worker = 0, ...others] = childrenOf(server.pid, "__worker");
      expect([worker > 0, others]).toEqual([true, []]);
      process.kill(worker, "SIGKILL");
      await completesUnchanged(id);
      expect(server.pid).toBe(serverPid);
      expect(loggedChunks()).toEqual(chunks);
      expect(server.log.slice(logged).filter(({ event }) => event === "engine.worker_exited")).toHaveLength(1);
    }),
    180_000,
  );

  test(
    "resumes from its checkpoint when the server is killed, and no chunk is transcribed twice",
    server.showingLog(async () => {
      const id = await begin();
      const worker = canSeeProcesses ? childrenOf(server.pid, "__worker")[0] : undefined;
      await server.killHard();
      const stored = storedParts(server, "transcribe");
      // A worker exits by itself when its server has exited.
      while (worker !== undefined && isAlive(worker)) await Bun.sleep(20);
      // The server stores a chunk before it logs it, so that the last stored chunk may be missing from the log.
      expect(stored).toEqual(expect.arrayContaining(loggedChunks()));
      logged = server.log.length;
      await server.start();
      await completesUnchanged(id);
      expect(loggedChunks()).toEqual(chunks.filter((chunk) => !stored.includes(chunk)));
      expect(server.log.findLast(({ event }) => event === "server.listening")?.recovered).toBe(1);
    }),
    180_000,
  );

  test(
    "resumes after an orderly stop of the server",
    server.showingLog(async () => {
      const id = await begin();
      expect(await server.stop()).toBe(0);
      expect(server.log.at(-1)?.event).toBe("server.stopped");
      expect(readdirSync(join(server.dataDirectory, "state"))).not.toContain("server.json");
      await server.start();
      expect(["queued", "processing"]).toContain((await client().get(id)).status);
      await completesUnchanged(id);
      expect(loggedChunks()).toEqual(chunks);
    }),
    180_000,
  );

  test(
    "is not disturbed by a second server on its data directory, which is refused",
    server.showingLog(async () => {
      const { exitCode, stdout, stderr } = await server.cli("serve", "--port", "0");
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toContain("another transcribe server uses");
      expect(stderr).toContain("--data-dir");
      expect(stderr).not.toContain("    at ");
    }),
    60_000,
  );

  test(
    "survives a kill together with four others, and a sixth recording is refused until one of them finishes",
    server.showingLog(async () => {
      const ids = [];
      // None of them may finish before the upload of the sixth.
      for (const pid of canSeeProcesses ? childrenOf(server.pid, "__worker") : []) process.kill(pid, "SIGSTOP");
      for (let count = 0; count < 5; count++)
        ids.push((await client().create(samplePath("jfk.mp3"), { language: "en" })).id);
      expect((await errorOf(await client().send(samplePath("jfk.mp3")), 409)).error).toBe("concurrency_limit");
      await server.killHard();
      await server.start();
      expect(server.log.findLast(({ event }) => event === "server.listening")?.recovered).toBeGreaterThanOrEqual(4);
      for (const id of ids) {
        expect((await client().waitUntilEnded(id)).status).toBe("completed");
        expect(spokenText(await client().segments(id))).toContain("ask not what your country can do for you");
      }
      expect((await client().send(samplePath("jfk.mp3"))).status).toBe(201);
    }),
    180_000,
  );
});
