import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { available, ffmpegPath, mediaToolPath, samplePath } from "../../harness/checkout.ts";
import { lavfi, makeWithFfmpeg, waveHeader } from "../../harness/media.ts";
import { canMount, SmallDisk } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { recoverWork } from "../../src/pipeline/index.ts";
import { RecordingQueue } from "../../src/queue/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import type { WorkArea } from "../../src/timeline/index.ts";
import { QuietPipeline, unused } from "./services.ts";
import { storedRecording } from "./step-context.ts";

setDefaultTimeout(60_000);

const jfk = samplePath("jfk.mp3");

/** A pipeline on its own small disk. Its recordings contain no speech, so they end after speech detection. */
class Workplace extends QuietPipeline {
  readonly #directory: ReturnType<typeof temporaryDirectory>;
  readonly disk: SmallDisk;
  /** Largest number of completely decoded recordings at one time. */
  mostAtOnce = 0;
  readonly waits: string[] = [];

  constructor(size: string) {
    const directory = temporaryDirectory();
    const disk = new SmallDisk(directory.path, `size=${size}`);
    const log = createLogger("silent");
    const run = async (operation: string, params: { area: WorkArea; block: number }) => {
      if (operation === "planChunks") return { chunks: [] };
      await Bun.write(join(params.area.directory, `${params.block}`), new Uint8Array(20_000));
      const work = readdirSync(this.dataDirectory.work, { recursive: true });
      const decoded = work.filter((name) => /audio.pcm$/.test(`${name}`));
      this.mostAtOnce = Math.max(this.mostAtOnce, decoded.length);
      await Bun.sleep(20);
      return {};
    };
    super(run, { root: directory.path, log });
    this.disk = disk;
    this.#directory = directory;
    log.warn = ((line: { trouble?: string; detail?: string }) => {
      this.waits.push(`${line.trouble}: ${line.detail}`);
    }) as typeof log.warn;
  }

  /** Makes a file of silence on another disk. */
  async silence(seconds: number): Promise<string> {
    const path = join(this.folder, `${seconds}.wav`);
    const header = waveHeader({ channels: 1, rateHz: 16_000, claimedBytes: seconds * 32_000 });
    await Bun.write(path, Buffer.concat([header, Buffer.alloc(seconds * 32_000)]));
    return path;
  }

  /** Makes a FLAC file that is longer than the 10 s in its header. */
  async understated(seconds: number): Promise<string> {
    const path = join(this.folder, `${seconds}.flac`);
    makeWithFfmpeg(...lavfi(`sine=duration=${seconds}:sample_rate=16000`), path);
    const bytes = Buffer.from(await Bun.file(path).bytes());
    // The number of samples in STREAMINFO.
    bytes.writeUInt32BE(160_000, 22);
    await Bun.write(path, bytes);
    return path;
  }

  /** Creates a recording with a file. */
  upload(source: string): string {
    const id = this.create();
    symlinkSync(source, this.dataDirectory.localAudio.pathOf(id));
    return id;
  }

  queue(retryMilliseconds: number): RecordingQueue {
    return new RecordingQueue({
      recordings: this.recordings,
      process: (id, signal) => this.process(id, signal),
      fetch: unused,
      ...{ slots: 5, priorityOf: () => 0, now: Date.now },
      retryMilliseconds: () => retryMilliseconds,
      onFault: (_, error) => {
        throw error;
      },
    });
  }

  async untilAllEnd(): Promise<void> {
    const { recordings } = this;
    while (recordings.open.counts().queued + recordings.open.counts().processing > 0) await Bun.sleep(5);
  }

  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    this.disk[Symbol.dispose]();
    this.#directory[Symbol.dispose]();
  }
}

describe.if(canMount && available("tests of the disk space for work files", ffmpegPath, mediaToolPath, jfk))(
  "on a small disk",
  () => {
    test.each([
      // The disk may count a removed file for a moment, so the retry after an end of another one can come too early.
      ["4600k", 1, 500],
      // A recording that waits for space is retried when another one ends.
      ["8m", 2, 3_600_000],
    ])("of %s, four recordings of which %i fit at once all complete", async (size, atOnce, retryMilliseconds) => {
      using place = new Workplace(size);
      const source = await place.silence(100);
      const ids = Array.from({ length: 4 }, () => place.upload(source));
      const queue = place.queue(retryMilliseconds);
      queue.recover();
      await place.untilAllEnd();
      await queue.stop();
      expect(ids.map((id) => place.ended(id))).toEqual(ids.map(() => ["failed", "no_speech", null]));
      expect(place.mostAtOnce).toBeLessThanOrEqual(atOnce);
      expect(place.waits.filter((wait) => !wait.startsWith("no_room"))).toEqual([]);
      expect(readdirSync(place.dataDirectory.work)).toEqual([]);
    });

    test("recordings with decoded audio from a killed server go first, and partial files are removed", async () => {
      using place = new Workplace("8m");
      const source = await place.silence(100);
      const half = place.upload(source);
      const decoded = place.upload(source);
      await Bun.write(join(place.dataDirectory.filesOf(half).work, "audio.pcm.partial"), new Uint8Array(1_000_000));
      const sound = join(place.dataDirectory.filesOf(decoded).work, "audio.pcm");
      await Bun.write(sound, new Uint8Array(3_200_000));
      const { store, services, disk } = place;
      store.$client.run("INSERT INTO checkpoints VALUES (?, 'decode', 0, ?)", [decoded, '{"sampleCount":1600000}']);
      await recoverWork(services);
      expect(readdirSync(place.dataDirectory.work)).toEqual([decoded]);
      // There would be space for one more, without the reservation of the other.
      disk.fill(3_800_000);
      expect(await place.process(half)).toEqual({ waitsFor: "no_room" });
      expect(await place.process(decoded)).toBeNull();
      expect(await place.process(half)).toBeNull();
      expect(place.ended(half)).toEqual(["failed", "no_speech", null]);
    });

    test("a recording longer than declared fills the disk once, is then measured, and waits for its real size", async () => {
      using place = new Workplace("16m");
      const id = place.upload(await place.understated(220));
      place.disk.fill(4_000_000);
      // Which of the two depends on whether the decoder fills the disk before the check.
      expect(["no_room", "disk_full"]).toContain((await place.process(id))?.waitsFor ?? "");
      expect(readdirSync(place.dataDirectory.filesOf(id).work)).toEqual([]);
      const soundBytes = 220 * 32_000;
      const rows = place.store.$client.query<{ payload: string }, []>("SELECT payload FROM checkpoints").all();
      const { bytes } = JSON.parse(rows[0]?.payload ?? "{}");
      expect(bytes).toBeGreaterThanOrEqual(soundBytes);
      expect(bytes).toBeLessThan(soundBytes * 1.02);
      // It does not start before there is space for all of it.
      place.disk.empty();
      place.disk.fill(bytes);
      expect(await place.process(id)).toEqual({ waitsFor: "no_room" });
      expect(place.waits.at(-1)).toContain("more are needed");
      place.disk.empty();
      expect(await place.process(id)).toBeNull();
      expect(place.ended(id)).toEqual(["failed", "no_speech", null]);
    });

    test.each([
      ["declares more than the disk holds", (place: Workplace) => place.silence(200)],
      ["is longer than declared and than the disk", (place: Workplace) => place.understated(220)],
    ])("a recording that %s can never fit and fails instead of waiting", async (_, make) => {
      using place = new Workplace("6m");
      const id = place.upload(await make(place));
      for (let tries = 0; tries < 3 && place.ended(id)[0] !== "failed"; tries++) await place.process(id);
      expect(place.ended(id)).toEqual(["failed", "internal", "disk_full"]);
      expect(readdirSync(place.dataDirectory.work)).toEqual([]);
    });

    test("a recording that declares more than the disk holds is measured and processed", async () => {
      using place = new Workplace("6m");
      const source = await place.silence(100);
      const header = waveHeader({ channels: 1, rateHz: 16_000, claimedBytes: 400 * 32_000 });
      await Bun.write(source, Buffer.concat([header, Buffer.alloc(100 * 32_000)]));
      const id = place.upload(source);
      expect(await place.process(id)).toBeNull();
      expect(place.ended(id)).toEqual(["failed", "no_speech", null]);
    });
  },
);

test("no checkpoint is stored for a recording that has ended, even by an operation that finishes later", () => {
  const nothing = Type.Object({});
  for (const end of ["cancel", "delete"]) {
    const { store, recordings, id, checkpoints } = storedRecording();
    const rows = () => store.$client.query("SELECT step FROM checkpoints").values();
    checkpoints.write("tries", 0, nothing, {});
    expect(rows()).toEqual([["tries"]]);
    recordings.fail(id, { reason: "internal", cause: "cancelled" });
    while (recordings.rows.removeWork(id, 10));
    if (end === "delete") recordings.delete(id);
    checkpoints.write("tries", 0, nothing, {});
    checkpoints.write("activity", 1, nothing, {});
    expect(rows()).toEqual([]);
    store.$client.close();
  }
});
