import { describe, expect, test } from "bun:test";
import { available, samplePath } from "../../harness/checkout.ts";
import { bodyOf } from "../../harness/client.ts";
import { transcriptionContract } from "../../harness/contract.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { scopes } from "../../src/keys/index.ts";

const jfk = samplePath("jfk.mp3");
const sample = samplePath("sample.wav");

/** Time within which the slot of a cancelled recording is free. */
const FREE_MILLISECONDS = 2000;

describe.if(available("e2e tests of cancelled recordings", jfk, sample))("a recording that a program cancels", () => {
  test(
    "leaves its slot to the next one within two seconds, and keeps neither work files nor a charge",
    async () => {
      await using server = new TestServer({ TRANSCRIBE_QUEUE_SLOTS: "1" });
      await server.start();
      const client = server.client("cancelling", undefined, scopes);
      const running = await client.create(sample);
      await server.until(async () => (await client.get(running.id)).progress.step === "transcribe");
      const next = await client.create(jfk);
      expect((await client.get(next.id)).status).toBe("queued");

      const startedAt = performance.now();
      const answer = await client.fetch(`/transcriptions/${running.id}/cancel`, { method: "POST" });
      const cancelled = await bodyOf(answer, 200, transcriptionContract);
      expect(cancelled).toMatchObject({ status: "failed", failure_reason: "internal" });
      while ((await client.get(next.id)).status === "queued") {
        expect(performance.now() - startedAt).toBeLessThan(FREE_MILLISECONDS);
        await Bun.sleep(20);
      }
      console.log(`the slot was free after ${Math.round(performance.now() - startedAt)} ms`);
      expect((await client.waitUntilEnded(next.id)).status).toBe("completed");
      expect(await client.get(running.id)).toEqual(cancelled);
      await server.untilCleanedUp();
    },
    startTimeout + 180_000,
  );
});
