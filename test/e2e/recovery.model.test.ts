import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../support/checkout.ts";
import { errorOf, spokenText, TestClient } from "../support/client.ts";
import type { Segment } from "../support/contract.ts";
import { canSeeProcesses, childrenOf, isAlive } from "../support/processes.ts";
import { makeRecordingOfChunks, sampleRecordingNeeds } from "../support/sample-recordings.ts";
import { startTimeout, TestServer } from "../support/server.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const ready = available("e2e tests of recovery", ...sampleRecordingNeeds);
if (!canSeeProcesses) console.warn("SKIPPED: e2e tests that kill workers; they find them in /proc");

/** Parts that were finished of a step, in order, as the log tells it; a part that was done twice is there twice. */
function partsDone(log: TestServer["log"], step: string): number[] {
  return log
    .filter((line) => line.event === "recording.part_finished" && line.step === step)
    .map((line) => Number(line.part))
    .sort((a, b) => a - b);
}

/** Parts of a step that the database has, read beside or after the server. */
function partsStored(server: TestServer, step: string): number[] {
  using database = new Database(join(server.dataDirectory, "transcribe.db"));
  return database
    .query<{ part: number }, [string]>("SELECT part FROM checkpoints WHERE step = ? ORDER BY part")
    .all(step)
    .map((row) => row.part);
}

describe.if(ready)("what is interrupted goes on", () => {
  const server = new TestServer();
  const directory = temporaryDirectory();
  let key = "";
  let long = "";
  let undisturbed: Segment[] = [];
  let chunks: number[] = [];
  let logged = 0;

  /** The server gets another port with each start. */
  const client = () => new TestClient(server.baseUrl, key);

  /** Sends the long recording and waits until one of its chunks is transcribed and others are not. */
  const begin = async (): Promise<string> => {
    const { id } = await client().create(long, { language: "en" });
    await server.until(() => partsStored(server, "transcribe").length >= 1);
    expect(partsStored(server, "transcribe").length).toBeLessThan(chunks.length);
    return id;
  };

  const endsUndisturbed = async (id: string) => {
    expect(await client().waitUntilEnded(id)).toMatchObject({ status: "completed", duration_seconds: 50 });
    expect(await client().segments(id)).toEqual(undisturbed);
    await server.untilCleanedUp();
  };

  beforeAll(async () => {
    long = await makeRecordingOfChunks(directory.path, 6);
    await server.start();
    key = server.client("recovery").key;
    const { ended, segments } = await client().transcribe(long, { language: "en" });
    expect(ended.status).toBe("completed");
    undisturbed = segments;
    chunks = partsDone(server.log, "transcribe");
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

  /** Chunks that were transcribed since the test began, over however many processes. */
  const chunksDone = () => partsDone(server.log.slice(logged), "transcribe");

  test.if(canSeeProcesses)(
    "the worker is killed in mid-job: the server stays, starts another, and no word is lost",
    server.showingLog(async () => {
      const serverPid = server.pid;
      const id = await begin();
      const [worker = 0, ...others] = childrenOf(server.pid, "__worker");
      expect([worker > 0, others]).toEqual([true, []]);
      process.kill(worker, "SIGKILL");
      await endsUndisturbed(id);
      expect(server.pid).toBe(serverPid);
      expect(chunksDone()).toEqual(chunks);
      expect(server.log.slice(logged).filter(({ event }) => event === "engine.worker_exited")).toHaveLength(1);
    }),
    180_000,
  );

  test(
    "the server is killed in mid-job and started again: the recording goes on from its checkpoint, no chunk is done twice",
    server.showingLog(async () => {
      const id = await begin();
      const worker = canSeeProcesses ? childrenOf(server.pid, "__worker")[0] : undefined;
      await server.killHard();
      const stored = partsStored(server, "transcribe");
      // A worker without its server ends by itself.
      while (worker !== undefined && isAlive(worker)) await Bun.sleep(20);
      // A chunk that was stored may have died before its line was logged, never the other way round.
      expect(stored).toEqual(expect.arrayContaining(chunksDone()));
      logged = server.log.length;
      await server.start();
      await endsUndisturbed(id);
      expect(chunksDone()).toEqual(chunks.filter((chunk) => !stored.includes(chunk)));
      expect(server.log.findLast(({ event }) => event === "server.listening")?.recovered).toBe(1);
    }),
    180_000,
  );

  test(
    "the server is told to stop in mid-job: it stops in order, and goes on when it is started again",
    server.showingLog(async () => {
      const id = await begin();
      expect(await server.stop()).toBe(0);
      expect(server.log.at(-1)?.event).toBe("server.stopped");
      expect(readdirSync(join(server.dataDirectory, "state"))).not.toContain("server.json");
      await server.start();
      expect(["queued", "processing"]).toContain((await client().get(id)).status);
      await endsUndisturbed(id);
      expect(chunksDone()).toEqual(chunks);
    }),
    180_000,
  );

  test(
    "a second server on the same data directory is refused, and the first does not notice",
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
    "five recordings in hand survive a kill together; a sixth is refused until one of them has ended",
    server.showingLog(async () => {
      const ids = [];
      // None of them may end before the sixth is sent.
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
