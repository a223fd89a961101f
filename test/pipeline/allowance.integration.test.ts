import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { available, ffmpegPath, mediaToolPath } from "../../harness/checkout.ts";
import { lavfi, makeWithFfmpeg, waveHeader } from "../../harness/media.ts";
import { parseAllowList } from "../../src/addresses/index.ts";
import { EngineOperationError } from "../../src/engine/index.ts";
import { fetchLink } from "../../src/pipeline/index.ts";
import { never, QuietPipeline } from "./services.ts";

setDefaultTimeout(60_000);

describe.if(available("tests of the allowance", ffmpegPath, mediaToolPath))("the daily allowance", () => {
  let pipeline: QuietPipeline;
  /** Runs when the engine detects a block. */
  let detects: () => unknown;
  let allowanceSeconds: number;
  let maxSeconds: number;

  beforeEach(() => {
    detects = () => ({});
    [allowanceSeconds, maxSeconds] = [1200, 3600];
    // planChunks finds no chunk, so the recording contains no speech.
    pipeline = new QuietPipeline(async (operation: string) =>
      operation === "planChunks" ? { chunks: [] } : detects(),
    );
    const quiet = pipeline.services;
    pipeline.services = {
      ...quiet,
      audioAllowanceSeconds: () => allowanceSeconds,
      decodeOptions: () => ({ ffmpegPath, maxSeconds }),
      fetchOptions: () => ({ ...quiet.fetchOptions(), allow: parseAllowList(["127.0.0.1"]), stallSeconds: 0.3 }),
    };
  });
  afterEach(() => pipeline[Symbol.dispose]());

  const upload = (path: string): string => {
    const id = pipeline.create();
    symlinkSync(path, pipeline.dataDirectory.localAudio.pathOf(id));
    return id;
  };
  const link = (port: number | undefined): string =>
    pipeline.create({ sourceUrl: `http://127.0.0.1:${port}/a`, sizeBytes: null });
  const process = (id: string) => pipeline.process(id);
  const ended = (id: string) => {
    const [, reason, cause] = pipeline.ended(id);
    return cause ?? reason;
  };
  const charged = () => pipeline.services.usage.audioSeconds(pipeline.accountId, Date.now());
  const silence = async (seconds: number) => {
    const path = join(pipeline.folder, `${seconds}.wav`);
    const header = waveHeader({ channels: 1, rateHz: 16_000, claimedBytes: seconds * 32_000 });
    await Bun.write(path, Buffer.concat([header, Buffer.alloc(seconds * 32_000)]));
    return path;
  };
  /** Returns a file whose container declares another length. */
  const claiming = async (claimedSeconds: number, seconds: number) => {
    const path = join(pipeline.folder, `${seconds}.flac`);
    makeWithFfmpeg(...lavfi(`sine=duration=${seconds}:sample_rate=16000`), path);
    const bytes = Buffer.from(await Bun.file(path).bytes());
    // The number of samples in STREAMINFO.
    bytes.writeUInt32BE(claimedSeconds * 16_000, 22);
    await Bun.write(path, bytes);
    return path;
  };
  /** Returns a file that declares no length. */
  const unknown = (seconds: number) => {
    const path = join(pipeline.folder, `${seconds}.aac`);
    makeWithFfmpeg(...lavfi(`sine=duration=${seconds}:sample_rate=16000`), "-f", "adts", path);
    return path;
  };

  test.each([
    ["whose containers declare their length", (seconds: number) => claiming(seconds, seconds)],
    ["whose containers declare a shorter length", (seconds: number) => claiming(10, seconds)],
    ["whose containers declare no length", async (seconds: number) => unknown(seconds)],
  ])(
    "five recordings of almost a day's allowance each, %s, don't all pass at once",
    async (_, make) => {
      allowanceSeconds = 100;
      const path = await make(90);
      const ids = Array.from({ length: 5 }, () => upload(path));
      await Promise.all(ids.map(process));
      const expected = ["no_speech", "no_speech", "quota_exceeded", "quota_exceeded", "quota_exceeded"];
      expect(ids.map(ended).toSorted()).toEqual(expected);
      expect(Math.round(charged() / 10)).toBe(18);
    },
    60_000,
  );

  test("is charged when processing starts and corrected to the decoded length", async () => {
    const seen: number[] = [];
    const { workReservations } = pipeline.services;
    const promise = workReservations.reserve.bind(workReservations);
    workReservations.reserve = (id, bytes) => {
      seen.push(charged());
      promise(id, bytes);
    };
    await process(upload(await claiming(400, 100)));
    expect(seen).toEqual([400]);
    expect(charged()).toBe(100);
  });

  test("is refunded after a fault of the service", async () => {
    detects = () => {
      throw new EngineOperationError("a block is damaged");
    };
    const id = upload(await silence(100));
    await process(id);
    expect([ended(id), charged()]).toEqual(["unexpected", 0]);
  });

  test("is charged up to the length limit for recordings that turn out to be too long", async () => {
    [allowanceSeconds, maxSeconds] = [120, 50];
    const path = await claiming(10, 100);
    const ends: unknown[] = [];
    for (let count = 0; count < 4; count++) {
      const id = upload(path);
      await process(id);
      ends.push(ended(id));
    }
    expect(ends).toEqual(["recording_too_long", "recording_too_long", "recording_too_long", "quota_exceeded"]);
    expect(charged()).toBe(150);
  });

  test("is not charged for a link that was too slow, and no link is downloaded once it is used up", async () => {
    let requests = 0;
    using host = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => {
        requests += 1;
        return new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) }));
      },
    });
    await process(upload(await silence(100)));
    const { accountId, services, store } = pipeline;
    const creates = () => services.usage.creates(accountId, { limit: 9, windowMilliseconds: 3_600_000 }, Date.now());
    services.usage.spendCreate(store, accountId, Date.now());
    const slow = link(host.port);
    expect(await fetchLink(pipeline.services, slow, never)).toBeNull();
    expect([ended(slow), charged(), requests]).toEqual(["fetch_too_slow", 100, 1]);
    expect(creates().remaining).toBe(8);
    allowanceSeconds = 100;
    const refused = link(host.port);
    expect(await fetchLink(pipeline.services, refused, never)).toBeNull();
    expect([ended(refused), charged(), requests]).toEqual(["quota_exceeded", 100, 1]);
  });
});
