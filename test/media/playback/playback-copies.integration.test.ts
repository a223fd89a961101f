import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { available, ffmpegPath, mediaToolPath } from "../../../harness/checkout.ts";
import { canMount, SmallDisk } from "../../../harness/small-disk.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { applyRetention } from "../../../src/library/index.ts";
import { readWaveform } from "../../../src/media/index.ts";
import { until } from "../media-folder.ts";
import { isAtWorkOn, speech, Workplace } from "./workplace.ts";

setDefaultTimeout(60_000);

const ready = available("tests of listening copies", ffmpegPath, mediaToolPath, speech);

describe.if(ready)("the copy of a recording", () => {
  test("is made after it has completed: complete, readable only by the owner, with its waveform", async () => {
    using place = new Workplace();
    const id = await place.completed();
    expect(await place.copies.stateOf(id)).toEqual({
      state: "none",
      message: expect.stringContaining("not been prepared"),
    });
    place.copies.enqueue(id);
    expect(await place.copies.stateOf(id)).toEqual({ state: "making", percent: null });
    const state = await place.until(id, "ready");
    if (state.state !== "ready") throw new Error(state.state);
    expect((await readWaveform(state.files.waveform, { most: 1000 })).peaks.length).toBe(110);
    expect(statSync(state.files.audio).size).toBeWithin(20_000, 60_000);
    expect(place.listening).toEqual([id]);
    expect(statSync(place.dataDirectory.filesOf(id).playback.directory).mode & 0o077).toBe(0);
  });

  test("is made again when a rerun has transcribed another audio track", async () => {
    using place = new Workplace();
    const id = await place.completed();
    place.copies.enqueue(id);
    await place.until(id, "ready");
    const request = { speechModel: "whisper-base", pinnedLanguage: null, author: "anna" };
    const rerun = place.recordings.reruns.create(id, request, () => {})?.id ?? "";
    place.recordings.claim(rerun);
    place.recordings.describe(rerun, { audioTrack: 2, audioTracks: 2, durationSeconds: 11 });
    place.recordings.complete(rerun, []);
    expect((await place.copies.stateOf(id)).state).not.toBe("ready");
    place.copies.enqueue(id);
    await place.until(id, "ready");
    const { directory } = place.dataDirectory.filesOf(id).playback;
    expect(readdirSync(directory).sort()).toEqual(["audio-2.webm", "waveform"]);
  });

  test("waits while recordings are processed, unless a user requests it", async () => {
    using place = new Workplace();
    const [waits, opened] = [await place.completed(), await place.completed()];
    place.isBusy = true;
    place.copies.enqueue(waits);
    place.copies.enqueue(opened);
    expect(await place.copies.request(opened)).toEqual({ state: "making", percent: null });
    await place.until(opened, "ready");
    place.copies.startNext();
    expect((await place.copies.stateOf(waits)).state).toBe("none");
    place.isBusy = false;
    place.copies.startNext();
    await place.until(waits, "ready");
  });

  test("that a user requests preempts one that nobody requested, which is made afterwards", async () => {
    using place = new Workplace();
    const long = await place.completedLong(0.25);
    const short = await place.completed();
    place.copies.enqueue(long);
    await place.untilBegun(long);
    place.copies.request(short);
    await place.until(short, "ready");
    expect(place.listening).not.toContain(long);
    place.copies.request(long);
    await place.until(long, "ready");
    expect(place.listening).toEqual([long, short]);
  }, 300_000);

  test("keeps its place in the queue when it is requested again", async () => {
    using place = new Workplace();
    const ids: string[] = [];
    while (ids.length < 3) ids.push(await place.completed());
    const made: string[] = [];
    for (const id of ids) await place.copies.request(id);
    await until(async () => {
      for (const id of ids.toReversed())
        if ((await place.copies.request(id)).state === "ready" && !made.includes(id)) made.push(id);
      return made.length === 3;
    });
    expect(made).toEqual(ids);
  });

  test("is not made of an open, undecoded, or removed recording, and the message gives the reason", async () => {
    using place = new Workplace();
    const open = await place.enter();
    const silent = await place.enter();
    place.recordings.fail(silent, { reason: "no_speech" });
    const gone = await place.completed();
    rmSync(place.dataDirectory.localAudio.pathOf(gone));
    const unknown = Bun.randomUUIDv7();
    const states = await Promise.all([open, silent, gone, unknown].map((id) => place.copies.request(id)));
    const none = (words: string) => ({ state: "none" as const, message: expect.stringContaining(words) });
    expect(states).toEqual([
      none("when it is completed"),
      none("decoded"),
      none("retention.audio_days"),
      none("no such"),
    ]);
    for (const id of [open, silent, gone, unknown]) place.copies.enqueue(id);
    const last = await place.completed();
    place.copies.request(last);
    await place.until(last, "ready");
    expect(place.listening).toEqual([last]);
  });

  test("that failed after decoding is made only on request", async () => {
    using place = new Workplace();
    const id = await place.enter();
    place.recordings.claim(id);
    place.recordings.describe(id, { durationSeconds: 11 });
    place.recordings.fail(id, { reason: "internal", cause: "engine_crashed" });
    place.copies.enqueue(id);
    await place.copies.stop();
    expect(place.listening).toEqual([]);
    const next = new Workplace({}, place.root);
    next.copies.request(id);
    await next.until(id, "ready");
  });

  test("that ffmpeg cannot read is not attempted again", async () => {
    using place = new Workplace();
    const id = await place.completed(join(import.meta.dir, "workplace.ts"));
    place.copies.request(id);
    expect(await place.until(id, "failed")).toEqual({
      state: "failed",
      message: expect.stringMatching(/^The recording can't be prepared for playback: .*[^.]\.$/),
    });
    place.now += 3_600_000;
    expect((await place.copies.request(id)).state).toBe("failed");
    await place.copies.enqueueMissing();
    expect((await place.copies.stateOf(id)).state).toBe("failed");
    expect(place.listening).toEqual([]);
  });
});

describe.if(ready)("an interrupted copy", () => {
  test("leaves no files when the server stops, and is made by the next one", async () => {
    using first = new Workplace();
    const id = await first.completedLong();
    first.copies.enqueue(id);
    await first.untilBegun(id);
    await first.copies.stop();
    expect([first.listening, isAtWorkOn(first.root)]).toEqual([[], false]);
    first.copies.request(id);
    expect((await first.copies.stateOf(id)).state).toBe("none");

    const second = new Workplace({}, first.root);
    second.now = first.now;
    const short = await second.completed();
    await second.copies.enqueueMissing();
    // The newest one comes first.
    await second.until(short, "ready");
    await second.untilBegun(id);
    await second.copies.stop();
  }, 60_000);

  test("leaves only a draft until the next start, and no ffmpeg, when the server is killed", async () => {
    using folder = temporaryDirectory();
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "make-child.ts"), folder.path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { value } = await child.stdout.getReader().read();
    const id = new TextDecoder().decode(value).trim();
    child.kill("SIGKILL");
    await child.exited;
    await until(() => !isAtWorkOn(folder.path));
    const next = new Workplace({}, folder.path);
    expect(next.listening).toEqual([`${id}.part`]);
    expect((await next.copies.stateOf(id)).state).toBe("none");
    next.dataDirectory.cleanUp((ids) => next.recordings.open.areOpen(ids));
    expect(next.listening).toEqual([]);
    await next.copies.enqueueMissing();
    await next.untilBegun(id);
    await next.copies.stop();
  }, 60_000);

  test("leaves no files as soon as its recording is deleted", async () => {
    using place = new Workplace();
    const id = await place.completedLong();
    place.copies.enqueue(id);
    await place.untilBegun(id);
    place.recordings.delete(id);
    await place.dataDirectory.removeFiles(id);
    await until(() => !isAtWorkOn(place.root));
    await place.copies.stop();
    expect([place.listening, existsSync(place.dataDirectory.localAudio.pathOf(id))]).toEqual([[], false]);
  }, 60_000);

  test("is removed with its upload by retention, complete or in progress", async () => {
    using place = new Workplace();
    const made = await place.completed();
    place.copies.enqueue(made);
    await place.until(made, "ready");
    const making = await place.completedLong();
    place.copies.enqueue(making);
    await place.untilBegun(making);
    place.now += 8 * 86_400_000;
    const rules = { audioDays: 7, completedDays: 0 };
    await applyRetention(place, rules, place.now);
    await until(() => !isAtWorkOn(place.root));
    await place.copies.stop();
    expect(place.listening).toEqual([]);
    expect(await place.copies.stateOf(made)).toMatchObject({
      state: "none",
      message: expect.stringContaining("no longer stored"),
    });
  }, 60_000);
});

test.if(ready)("a temporarily unreadable database ends only the copy in progress", async () => {
  let isReadable = true;
  const read = <T>(value: () => T): T => {
    if (!isReadable) throw Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR" });
    return value();
  };
  const events: unknown[] = [];
  using place: Workplace = new Workplace({
    log: pino({ base: null }, { write: (line) => void events.push(JSON.parse(line).event) }),
    recordings: { get: (id) => read(() => place.recordings.get(id)) },
    isBusy: () => read(() => false),
  });
  const ids = [await place.completed(), await place.completed()];
  for (const id of ids) place.copies.enqueue(id);
  isReadable = false;
  await until(() => events.includes("playback.failed"));
  expect(place.listening).toEqual([]);
  isReadable = true;
  place.now += 300_000;
  place.copies.startNext();
  for (const id of ids) await place.until(id, "ready");
});

describe.if(ready && canMount)("a full disk", () => {
  test("is reported before the copy starts, and the copy can be requested later", async () => {
    using place = new Workplace();
    place.reserve = () => Number.MAX_SAFE_INTEGER;
    const id = await place.completed();
    place.copies.enqueue(id);
    await until(async () => (await place.copies.stateOf(id)).state === "none");
    // The copy may fail before the request is answered.
    await place.copies.request(id);
    expect(await place.until(id, "failed")).toMatchObject({ message: expect.stringContaining("the disk is full") });
    place.reserve = () => 0;
    expect((await place.copies.request(id)).state).toBe("failed");
    place.now += 10_000;
    place.copies.request(id);
    await place.until(id, "ready");
  });

  test("during the copy leaves no partial file, and the copy is made when there is space", async () => {
    using folder = temporaryDirectory();
    using disk = new SmallDisk(folder.path, "size=40m");
    using elsewhere = temporaryDirectory();
    const place = new Workplace({}, folder.path);
    const noise = join(elsewhere.path, "noise.wav");
    Bun.spawnSync([mediaToolPath, "-v", "error", "-f", "lavfi", "-i", "anoisesrc=d=300:r=16000", noise]);
    const long = await place.completed(noise, 300);
    place.copies.request(long);
    await place.untilBegun(long);
    disk.fill();
    expect(await place.until(long, "failed")).toMatchObject({ message: expect.stringContaining("the disk is full") });
    expect(place.listening).toEqual([]);
    disk.empty();
    place.now += 10_000;
    place.copies.request(long);
    await place.until(long, "ready");
    await place.copies.stop();
  }, 60_000);

  test("pauses all copies that nobody requested until there may be space", async () => {
    using place = new Workplace();
    let looks = 0;
    place.reserve = () => {
      looks++;
      return Number.MAX_SAFE_INTEGER;
    };
    const ids = [await place.completed(), await place.completed()];
    await place.copies.enqueueMissing();
    await until(async () => looks > 0 && (await place.copies.stateOf(ids[1] ?? "")).state === "none");
    const looked = looks;
    place.copies.startNext();
    await Bun.sleep(50);
    expect(looks).toBe(looked);
    place.reserve = () => 0;
    place.now += 300_000;
    place.copies.startNext();
    for (const id of ids) await place.until(id, "ready");
  });
});
