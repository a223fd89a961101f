import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { available, ffmpegPath } from "../../harness/checkout.ts";
import { waveHeader } from "../../harness/media.ts";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { parseAllowList } from "../../src/media/index.ts";
import { attempt } from "../../src/pipeline/attempt.ts";
import { fetchLink, type PipelineServices, processRecording } from "../../src/pipeline/index.ts";
import { Recordings, SuspendError } from "../../src/recordings/index.ts";
import { DataDirectory, DiskSpace, openDatabase, type Store } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { quietServices } from "./services.ts";

describe.if(available("tests of attempts", ffmpegPath))("an attempt at a recording", () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let store: Store;
  let recordings: Recordings;
  let services: PipelineServices;
  let accountId: string;
  /** Runs in place of each operation of the engine. */
  let run: (operation: string) => Promise<unknown>;
  let milliseconds: number;

  beforeEach(() => {
    directory = temporaryDirectory();
    store = openDatabase(":memory:");
    recordings = new Recordings(store, Date.now);
    accountId = createAccount(store, "acme", { actor: "operator", now: 1 }).id;
    milliseconds = 0;
    const dataDirectory = new DataDirectory(directory.path);
    const room = new DiskSpace(directory.path, () => 0);
    const engine = (operation: string) => run(operation);
    const quiet = quietServices({ store, recordings, dataDirectory, log: createLogger("silent"), run: engine, room });
    services = { ...quiet, now: () => milliseconds };
  });
  afterEach(() => {
    store.$client.close();
    directory[Symbol.dispose]();
  });

  test("that is suspended is counted with its time in the slot, like the one that completes the recording", async () => {
    const header = waveHeader({ channels: 1, rateHz: 16_000, claimedBytes: 64_000 });
    const { id } = recordings.create(newRecording(Bun.randomUUIDv7(), accountId));
    await Bun.write(services.dataDirectory.audio.pathOf(id), Buffer.concat([header, Buffer.alloc(64_000)]));
    const suspension = new AbortController();
    run = async () => {
      milliseconds += 40_000;
      suspension.abort(new SuspendError(0));
      throw suspension.signal.reason;
    };
    expect(await processRecording(services, id, suspension.signal)).toEqual({ waitsFor: "slot" });
    expect(recordings.get(id)).toMatchObject({ status: "processing", failureReason: null });
    const text = await services.metrics.read();
    expect(text).toContain("transcribe_processing_seconds_total 40");
  });

  test("that completes a rerun, which is deleted then, is counted with its audio and its language", async () => {
    const { id } = recordings.create(newRecording(Bun.randomUUIDv7(), accountId));
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
    expect(await attempt(services, rerun, new AbortController().signal, work)).toBeNull();
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
    const { id } = recordings.create(newRecording(Bun.randomUUIDv7(), accountId, { sourceUrl, sizeBytes: null }));
    const options = { ...services.fetchOptions(), enabled: false, allow: parseAllowList(["127.0.0.1"]) };
    const off = { ...services, fetchOptions: () => options };
    expect(await fetchLink(off, id, new AbortController().signal)).toBeNull();
    expect(recordings.get(id)).toMatchObject({ status: "failed", failureCause: "fetch_blocked_address" });
    expect(requests).toBe(0);
  });
});
