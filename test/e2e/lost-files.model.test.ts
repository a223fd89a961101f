import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { available } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import type { Segment } from "../../harness/contract.ts";
import { tinyLanguage, tinyRecognizer } from "../../harness/parakeet/tiny-recognizer.ts";
import { canSeeProcesses } from "../../harness/processes.ts";
import { makeRecordingOfChunks, sampleRecordingNeeds } from "../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { interrupt } from "./interrupted-recording.ts";

const ready = available("e2e tests of lost work files", ...sampleRecordingNeeds) && canSeeProcesses;
if (!canSeeProcesses) console.warn("SKIPPED: e2e tests of lost work files; they need /proc");
const chunks = 4;

describe.if(ready)("work files that are lost or damaged", () => {
  const folder = temporaryDirectory();
  const server = new TestServer(tinyRecognizer(folder.path));
  let key = "";
  let long = "";
  let expected: Segment[] = [];
  const client = () => new TestClient(server.baseUrl, key);

  beforeAll(async () => {
    long = await makeRecordingOfChunks(folder.path, chunks);
    await server.start();
    key = server.client("lost").key;
    expected = (await client().transcribe(long, tinyLanguage)).segments;
    expect(expected.length).toBeGreaterThan(1);
    await server.untilCleanedUp();
  }, startTimeout * 2);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const begin = () => interrupt(server, client(), long, chunks);
  const completesUnchanged = async (id: string) => {
    expect((await client().waitUntilEnded(id, 50)).status).toBe("completed");
    expect(await client().segments(id)).toEqual(expected);
    await server.untilCleanedUp();
  };

  test(
    "are written again when the server starts",
    server.showingLog(async () => {
      const { id, worker } = await begin();
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
    "are written again while the recording is processed, and no chunk is transcribed twice",
    server.showingLog(async () => {
      const since = server.log.length;
      const { id, worker } = await begin();
      using _ = worker;
      const work = join(server.dataDirectory, "work", id);
      truncateSync(join(work, "activity/000000.block"), 1000);
      truncateSync(join(work, "audio.pcm"), 300_000);
      worker.resume();
      await completesUnchanged(id);
      const log = server.log.slice(since).filter(({ recordingId }) => recordingId === id);
      expect(log.filter(({ event }) => event === "recording.retried").length).toBeGreaterThan(0);
      const chunks = log.filter(({ event, step }) => event === "recording.part_finished" && step === "transcribe");
      expect(new Set(chunks.map(({ part }) => part)).size).toBe(chunks.length);
    }),
    180_000,
  );
});
