import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { getPriority } from "node:os";
import { available, samplePath } from "../../harness/checkout.ts";
import { errorOf, TestClient } from "../../harness/client.ts";
import { canSeeProcesses, childrenOf, isAlive } from "../../harness/processes.ts";
import { makeRecordingOfChunks, sampleRecordingNeeds } from "../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { interrupt } from "../support/interrupted-recording.ts";
import { tinyRecognizer } from "../support/tiny-recognizer.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("e2e tests of stopping", ...sampleRecordingNeeds);
const chunks = 4;
if (!canSeeProcesses) console.warn("SKIPPED: e2e tests that stop workers; they need /proc");

/** The tests run in order. Each one leaves the server ready and idle for the next. */
describe.if(ready && canSeeProcesses)("a worker", () => {
  const directory = temporaryDirectory();
  const server = new TestServer(tinyRecognizer());
  let recording = "";
  let key = "";
  const client = () => new TestClient(server.baseUrl, key);
  const worker = () => childrenOf(server.pid, "__worker")[0] ?? 0;
  const readiness = () => fetch(`${server.origin}/readyz`);
  /** Uploads a recording and stops the worker while it transcribes it. */
  const begin = () => interrupt(server, client(), recording, chunks);

  beforeAll(async () => {
    recording = await makeRecordingOfChunks(directory.path, chunks);
    await server.start();
    key = server.client("stopping").key;
  }, startTimeout);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  test(
    "has a lower CPU priority than the server, and ignores signals of the terminal",
    server.showingLog(async () => {
      const pid = worker();
      expect(getPriority(pid) - getPriority(server.pid)).toBe(10);
      const { id, worker: stopped } = await begin();
      using _ = stopped;
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.kill(pid, signal);
      stopped.resume();
      expect((await client().waitUntilEnded(id, 50)).status).toBe("completed");
      expect(worker()).toBe(pid);
    }),
    120_000,
  );

  test(
    "makes the server not ready, but alive, while it is stopped",
    server.showingLog(async () => {
      const pid = worker();
      process.kill(pid, "SIGSTOP");
      try {
        await server.until(async () => !(await readiness()).ok);
        const { message } = await errorOf(await readiness(), 503);
        expect(message).toContain("the worker does not answer");
        expect((await fetch(`${server.origin}/healthz`)).status).toBe(200);
      } finally {
        process.kill(pid, "SIGCONT");
      }
      await server.until(async () => (await readiness()).ok);
      expect(worker()).toBe(pid);
    }),
    120_000,
  );

  test(
    "does not delay the exit while it is stopped: the server responds, refuses uploads and exits with 0, after repeated signals too",
    server.showingLog(async () => {
      const { id, worker: stoppedWorker } = await begin();
      using _ = stoppedWorker;
      const { pid } = stoppedWorker;
      const stopped = server.stop();
      const serverPid = server.pid;
      await server.until(async () => (await readiness()).status === 503, 10);
      for (const signal of ["SIGTERM", "SIGINT", "SIGTERM"] as const) process.kill(serverPid, signal);
      const refused = await client().send(jfk);
      expect(refused.headers.get("Retry-After")).toBe("10");
      expect(await errorOf(refused, 503)).toMatchObject({ error: "service_unavailable" });
      expect((await errorOf(await readiness(), 503)).message).toContain("stopping");
      expect((await client().get(id)).status).toBe("processing");
      expect(await stopped).toBe(0);
      expect(server.log.at(-1)?.event).toBe("server.stopped");
      expect(isAlive(pid)).toBe(false);
      await server.start();
      expect((await client().waitUntilEnded(id, 50)).status).toBe("completed");
    }),
    180_000,
  );
});
