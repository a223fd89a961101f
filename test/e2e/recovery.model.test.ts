import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { errorOf, TestClient } from "../../harness/client.ts";
import type { Segment } from "../../harness/contract.ts";
import { canSeeProcesses, childrenOf } from "../../harness/processes.ts";
import { makeRecordingOfChunks, sampleRecordingNeeds } from "../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { interrupt, storedParts } from "../support/interrupted-recording.ts";
import { tinyLanguage, tinyRecognizer } from "../support/tiny-recognizer.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("e2e tests of recovery", ...sampleRecordingNeeds);
if (!canSeeProcesses) console.warn("SKIPPED: e2e tests of recovery; they need /proc");

const chunks = [0, 1, 2, 3];

/** The words are those of a tiny recognizer; kills.slow.test.ts kills a server that recognizes real ones. */
describe.if(ready && canSeeProcesses)("an interrupted recording", () => {
  const directory = temporaryDirectory();
  const server = new TestServer(tinyRecognizer());
  let key = "";
  let long = "";
  const expected: { long: Segment[]; short: Segment[] } = { long: [], short: [] };
  let logged = 0;

  /** Returns a client of the present server, whose port changes with each start. */
  const client = () => new TestClient(server.baseUrl, key);

  const completesUnchanged = async (id: string) => {
    expect(await client().waitUntilEnded(id, 50)).toMatchObject({ status: "completed", duration_seconds: 32 });
    expect(await client().segments(id)).toEqual(expected.long);
    await server.untilCleanedUp();
  };

  /**
   * Returns the chunks of a recording that all processes together have transcribed since the test began, by the log and
   * in order. A chunk that was transcribed twice is listed twice.
   */
  const loggedChunks = (id: string) =>
    server.log
      .slice(logged)
      .filter(
        ({ event, step, recordingId }) =>
          event === "recording.part_finished" && step === "transcribe" && recordingId === id,
      )
      .map(({ part }) => Number(part))
      .sort((a, b) => a - b);

  beforeAll(async () => {
    long = await makeRecordingOfChunks(directory.path, chunks.length);
    await server.start();
    key = server.client("recovery").key;
    const recordings = [await client().create(long, tinyLanguage), await client().create(jfk, tinyLanguage)];
    const ended = await Promise.all(recordings.map(({ id }) => client().waitUntilEnded(id, 50)));
    expect(ended.map(({ status }) => status)).toEqual(["completed", "completed"]);
    [expected.long = [], expected.short = []] = await Promise.all(ended.map(({ id }) => client().segments(id)));
    expect([expected.long.length, expected.short.length].every((count) => count > 0)).toBe(true);
    expect(loggedChunks(ended[0]?.id ?? "")).toEqual(chunks);
    await server.untilCleanedUp();
  }, startTimeout * 2);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });
  beforeEach(() => {
    logged = server.log.length;
  });
  afterEach(() => server.untilReady());

  test(
    "loses no word when the worker is killed: the server starts another worker",
    server.showingLog(async () => {
      const serverPid = server.pid;
      const { id, worker } = await interrupt(server, client(), long, chunks.length);
      using _ = worker;
      expect(childrenOf(server.pid, "__worker")).toEqual([worker.pid]);
      process.kill(worker.pid, "SIGKILL");
      await completesUnchanged(id);
      expect(server.pid).toBe(serverPid);
      expect(loggedChunks(id)).toEqual(chunks);
      expect(server.log.slice(logged).filter(({ event }) => event === "engine.worker_exited")).toHaveLength(1);
    }),
    180_000,
  );

  test(
    "resumes after an orderly stop of the server",
    server.showingLog(async () => {
      const { id, worker } = await interrupt(server, client(), long, chunks.length);
      using _ = worker;
      worker.resume();
      expect(await server.stop()).toBe(0);
      expect(server.log.at(-1)?.event).toBe("server.stopped");
      expect(readdirSync(join(server.dataDirectory, "state"))).not.toContain("server.json");
      await server.start();
      await completesUnchanged(id);
      expect(loggedChunks(id)).toEqual(chunks);
    }),
    180_000,
  );

  test(
    "has its lost and damaged work files written again when the server starts",
    server.showingLog(async () => {
      const { id, worker } = await interrupt(server, client(), long, chunks.length);
      using _ = worker;
      const work = join(server.dataDirectory, "work", id);
      await server.killHard();
      worker.resume();
      await worker.exited();
      rmSync(join(work, "activity/000000.block"));
      const audio = readFileSync(join(work, "audio.pcm"));
      writeFileSync(join(work, "audio.pcm"), audio.fill(0x55, audio.length / 2));
      await server.start();
      await completesUnchanged(id);
    }),
    180_000,
  );

  test(
    "has its damaged work files written again while it is processed, and no chunk is transcribed twice",
    server.showingLog(async () => {
      const { id, worker } = await interrupt(server, client(), long, chunks.length);
      using _ = worker;
      const work = join(server.dataDirectory, "work", id);
      truncateSync(join(work, "activity/000000.block"), 1000);
      truncateSync(join(work, "audio.pcm"), 300_000);
      worker.resume();
      await completesUnchanged(id);
      expect(server.log.slice(logged).some(({ event }) => event === "recording.retried")).toBe(true);
      expect(loggedChunks(id)).toEqual(chunks);
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
    "resumes from its checkpoint when the server is killed, together with four others, and no chunk is transcribed twice; a sixth recording is refused until one of the five finishes",
    server.showingLog(async () => {
      const { id, worker } = await interrupt(server, client(), long, chunks.length);
      using _ = worker;
      const others: string[] = [];
      while (others.length < 4) others.push((await client().create(jfk, tinyLanguage)).id);
      expect((await errorOf(await client().send(jfk), 409)).error).toBe("concurrency_limit");
      worker.resume();
      await server.killHard();
      const stored = storedParts(server, "transcribe", id);
      // A worker exits by itself when its server has exited.
      await worker.exited();
      // The server stores a chunk before it logs it, so that the last stored chunk may be missing from the log.
      expect(stored).toEqual(expect.arrayContaining(loggedChunks(id)));
      logged = server.log.length;
      await server.start();
      expect(server.log.findLast(({ event }) => event === "server.listening")?.recovered).toBeGreaterThanOrEqual(4);
      await completesUnchanged(id);
      expect(loggedChunks(id)).toEqual(chunks.filter((chunk) => !stored.includes(chunk)));
      for (const other of others) {
        expect((await client().waitUntilEnded(other, 50)).status).toBe("completed");
        expect(await client().segments(other)).toEqual(expected.short);
      }
      expect((await client().send(jfk, tinyLanguage)).status).toBe(201);
    }),
    180_000,
  );
});
