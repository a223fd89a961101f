import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { available, samplePath } from "../../harness/checkout.ts";
import { bodyOf, type TestClient } from "../../harness/client.ts";
import { transcriptionContract } from "../../harness/contract.ts";
import { canSeeProcesses } from "../../harness/processes.ts";
import { makeRecordingOfChunks, sampleRecordingNeeds } from "../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { interruptAll } from "../support/interrupted-recording.ts";
import { tinyLanguage, tinyRecognizer } from "../support/tiny-recognizer.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("e2e tests of fairness between accounts", jfk, ...sampleRecordingNeeds);
if (!canSeeProcesses) console.warn("SKIPPED: e2e tests of shared slots; they need /proc");
const chunks = [0, 1, 2, 3, 4, 5];

/**
 * A host on loopback that sends endless bodies slowly, but faster than the limit of 16 KiB/s below which a link fails.
 */
class DrippingHost implements AsyncDisposable {
  /** Number of bodies in progress. */
  open = 0;
  readonly #server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: () => {
      let timer: Timer | undefined;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.open += 1;
          timer = setInterval(() => controller.enqueue(new Uint8Array(4096).fill(7)), 100);
        },
        cancel: () => {
          this.open -= 1;
          clearInterval(timer);
        },
      });
      return new Response(body);
    },
  });

  get link(): string {
    return `http://127.0.0.1:${this.#server.port}/recording`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}

describe.if(ready)("one account's recordings do not block another's", () => {
  const directory = temporaryDirectory();
  const server = new TestServer({
    ...tinyRecognizer(),
    TRANSCRIBE_FETCH_ALLOW: "127.0.0.1/32",
    TRANSCRIBE_QUEUE_SLOTS: "2",
  });
  let short = "";
  let long = "";

  beforeAll(async () => {
    short = await makeRecordingOfChunks(directory.path, chunks.length);
    long = await makeRecordingOfChunks(directory.path, chunks.length * 3, "long.wav");
    await server.start();
  }, startTimeout);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  /** @returns the recording's id */
  const sendLink = async (client: TestClient, host: DrippingHost) => {
    const body = new FormData();
    body.set("url", host.link);
    const created = await client.fetch("/transcriptions", { method: "POST", body });
    return (await bodyOf(created, 201, transcriptionContract)).id;
  };
  const eventsOf = (id: string) => server.log.filter(({ recordingId }) => recordingId === id).map(({ event }) => event);

  test(
    "five links that drip hold no slot: two are downloaded, three wait, and another account's upload completes",
    server.showingLog(async () => {
      await using host = new DrippingHost();
      const slow = server.client("slow");
      const ids: string[] = [];
      while (ids.length < 5) ids.push(await sendLink(slow, host));
      await server.until(() => host.open === 2);
      const other = server.client("other");
      const { id } = await other.create(jfk, tinyLanguage);
      expect((await other.waitUntilEnded(id, 50)).status).toBe("completed");
      const links = await Promise.all(ids.map((link) => slow.get(link)));
      expect(links.map(({ status }) => status)).toEqual(ids.map(() => "queued"));
      expect(links.map(({ progress }) => progress.step).toSorted()).toEqual(["fetch", "fetch", null, null, null]);
      expect(host.open).toBe(2);
      // Cancelling a download lets the next one start.
      const downloading = links.find(({ progress }) => progress.step === "fetch")?.id ?? "";
      expect((await server.cli("recordings", "cancel", downloading)).exitCode).toBe(0);
      await server.until(async () => {
        const left = await Promise.all(ids.map((link) => slow.get(link)));
        return left.filter(({ progress }) => progress.step === "fetch").length === 2 && host.open === 2;
      });
      await Promise.all(ids.map((link) => server.cli("recordings", "cancel", link)));
      await server.until(() => host.open === 0);
    }),
    180_000,
  );

  test.if(canSeeProcesses)(
    "long recordings that hold all slots leave one to another account's, and the suspended one loses no chunk",
    server.showingLog(async () => {
      const many = server.client("many");
      // The first one must not end before the second one, which is suspended when its operations in progress end.
      const { ids, worker } = await interruptAll(server, many, [
        { path: long, chunks: chunks.length * 3 },
        { path: short, chunks: chunks.length },
      ]);
      using _ = worker;
      const [first = "", second = ""] = ids;
      const few = server.client("few");
      const { id } = await few.create(short, tinyLanguage);
      // The worker continues when the queue has shared its slots, which happens in the check that ends a download.
      await using host = new DrippingHost();
      const download = await sendLink(few, host);
      await server.until(() => host.open === 1);
      expect((await server.cli("recordings", "cancel", download)).exitCode).toBe(0);
      await server.until(() => host.open === 0);
      worker.resume();
      expect((await few.waitUntilEnded(id, 50)).status).toBe("completed");
      const segments = await few.segments(id);
      expect(segments.length).toBeGreaterThan(0);
      const suspended = server.log.findIndex(({ event }) => event === "recording.suspended");
      const started = server.log.findIndex(
        ({ event, recordingId }) => event === "recording.started" && recordingId === id,
      );
      expect(suspended).toBeGreaterThan(0);
      expect(started).toBeGreaterThan(suspended);
      expect(server.log[suspended]?.recordingId).toBe(second);
      const ended = [await many.waitUntilEnded(first, 50), await many.waitUntilEnded(second, 50)];
      expect(ended.map(({ status }) => status)).toEqual(["completed", "completed"]);
      expect(await many.segments(second)).toEqual(segments);
      const parts = server.log.filter(
        ({ event, recordingId, step }) =>
          event === "recording.part_finished" && recordingId === second && step === "transcribe",
      );
      expect(parts.map(({ part }) => part).toSorted()).toEqual(chunks);
      expect(eventsOf(first)).not.toContain("recording.suspended");
    }),
    300_000,
  );
});
