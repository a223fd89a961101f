import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { available, ffmpegPath } from "../../harness/checkout.ts";
import { waveHeader } from "../../harness/media.ts";
import { parseAllowList } from "../../src/addresses/index.ts";
import { attempt } from "../../src/pipeline/attempt.ts";
import { fetchLink } from "../../src/pipeline/index.ts";
import { SuspendError } from "../../src/queue/index.ts";
import { never, QuietPipeline } from "./services.ts";

describe.if(available("tests of attempts", ffmpegPath))("an attempt at a recording", () => {
  let pipeline: QuietPipeline;
  /** Runs in place of each operation of the engine. */
  let run: (operation: string) => Promise<unknown>;
  let milliseconds: number;

  beforeEach(() => {
    milliseconds = 0;
    pipeline = new QuietPipeline((operation: string) => run(operation));
    pipeline.services = { ...pipeline.services, now: () => milliseconds };
  });
  afterEach(() => pipeline[Symbol.dispose]());

  test("that is suspended is counted with its time in the slot, like the one that completes the recording", async () => {
    const header = waveHeader({ channels: 1, rateHz: 16_000, claimedBytes: 64_000 });
    const id = pipeline.create();
    await Bun.write(pipeline.dataDirectory.localAudio.pathOf(id), Buffer.concat([header, Buffer.alloc(64_000)]));
    const suspension = new AbortController();
    run = async () => {
      milliseconds += 40_000;
      suspension.abort(new SuspendError(0));
      throw suspension.signal.reason;
    };
    expect(await pipeline.process(id, suspension.signal)).toEqual({ waitsFor: "slot" });
    expect(pipeline.ended(id)).toEqual(["processing", null, null]);
    const text = await pipeline.services.metrics.read();
    expect(text).toContain("transcribe_processing_seconds_total 40");
  });

  test("that completes a rerun, which is deleted then, is counted with its audio and its language", async () => {
    const { recordings, services } = pipeline;
    const id = pipeline.create();
    recordings.claim(id);
    recordings.complete(id, []);
    const request = { speechModel: "whisper-base", pinnedLanguage: null, author: "anna" };
    const rerun = recordings.reruns.create(id, request, () => {})?.id ?? "";
    const work = async () => {
      recordings.claim(rerun);
      recordings.describe(rerun, { durationSeconds: 12, language: "de" });
      const completed = recordings.get(rerun);
      recordings.complete(rerun, []);
      return completed === null ? null : { completed };
    };
    expect(await attempt(services, rerun, never, work)).toBeNull();
    expect(recordings.get(rerun)).toBeNull();
    const text = await services.metrics.read();
    expect(text).toContain("transcribe_audio_completed_seconds_total 12");
    expect(text).toMatch(/language="de"\} 1/);
  });

  test("at a link fails without contacting a host after links were turned off", async () => {
    let requests = 0;
    using host = Bun.serve({
      ...{ hostname: "127.0.0.1", port: 0 },
      fetch: () => {
        requests += 1;
        return new Response("a recording");
      },
    });
    const sourceUrl = `http://127.0.0.1:${host.port}/a`;
    const { services } = pipeline;
    const id = pipeline.create({ sourceUrl, sizeBytes: null });
    const options = { ...services.fetchOptions(), enabled: false, allow: parseAllowList(["127.0.0.1"]) };
    const off = { ...services, fetchOptions: () => options };
    expect(await fetchLink(off, id, never)).toBeNull();
    expect(pipeline.ended(id)).toEqual(["failed", "internal", "fetch_blocked_address"]);
    expect(requests).toBe(0);
  });
});
