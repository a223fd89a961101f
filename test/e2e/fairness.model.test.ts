import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { available, samplePath } from "../../harness/checkout.ts";
import { bodyOf, spokenText } from "../../harness/client.ts";
import { transcriptionContract } from "../../harness/contract.ts";
import { makeRecordingOfChunks, sampleRecordingNeeds } from "../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("e2e tests of fairness between accounts", jfk, ...sampleRecordingNeeds);

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
  const server = new TestServer({ TRANSCRIBE_FETCH_ALLOW: "127.0.0.1/32", TRANSCRIBE_QUEUE_SLOTS: "2" });
  const directory = temporaryDirectory();
  let long = "";

  beforeAll(async () => {
    long = await makeRecordingOfChunks(directory.path, 6);
    await server.start();
  }, startTimeout);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  const eventsOf = (id: string) => server.log.filter(({ recordingId }) => recordingId === id).map(({ event }) => event);

  test(
    "five links that drip hold no slot: two are downloaded, three wait, and another account's upload completes",
    server.showingLog(async () => {
      await using host = new DrippingHost();
      const slow = server.client("slow");
      const ids: string[] = [];
      for (let count = 0; count < 5; count++) {
        const body = new FormData();
        body.set("url", host.link);
        const created = await slow.fetch("/transcriptions", { method: "POST", body });
        ids.push((await bodyOf(created, 201, transcriptionContract)).id);
      }
      await server.until(() => host.open === 2);
      const other = server.client("other");
      const { id } = await other.create(jfk, { language: "en" });
      expect((await other.waitUntilEnded(id)).status).toBe("completed");
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
      for (const link of ids) await server.cli("recordings", "cancel", link);
      await server.until(() => host.open === 0);
    }),
    180_000,
  );

  test(
    "long recordings that hold all slots leave one to another account's, and the suspended one loses no chunk",
    server.showingLog(async () => {
      const many = server.client("many");
      const [first, second] = [
        await many.create(long, { language: "en" }),
        await many.create(long, { language: "en" }),
      ];
      await server.until(async () => {
        const both = await Promise.all([first, second].map(({ id }) => many.get(id)));
        return both.every(({ progress }) => progress.step === "transcribe");
      });
      const few = server.client("few");
      const { id } = await few.create(jfk, { language: "en" });
      expect((await few.waitUntilEnded(id)).status).toBe("completed");
      expect(spokenText(await few.segments(id))).toContain("ask not what your country can do for you");
      const suspended = server.log.findIndex(({ event }) => event === "recording.suspended");
      const started = server.log.findIndex(
        ({ event, recordingId }) => event === "recording.started" && recordingId === id,
      );
      expect(suspended).toBeGreaterThan(0);
      expect(started).toBeGreaterThan(suspended);
      expect(server.log[suspended]?.recordingId).toBe(second.id);
      const ended = [await many.waitUntilEnded(first.id), await many.waitUntilEnded(second.id)];
      expect(ended.map(({ status }) => status)).toEqual(["completed", "completed"]);
      expect(await many.segments(second.id)).toEqual(await many.segments(first.id));
      const parts = server.log.filter(
        ({ event, recordingId, step }) =>
          event === "recording.part_finished" && recordingId === second.id && step === "transcribe",
      );
      expect(parts.map(({ part }) => part).toSorted()).toEqual([0, 1, 2, 3, 4, 5]);
      expect(eventsOf(first.id)).not.toContain("recording.suspended");
    }),
    300_000,
  );
});
