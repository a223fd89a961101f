import { describe, expect, test } from "bun:test";
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { readWaveform } from "../../../src/media/index.ts";
import { applyRetention } from "../../../src/recordings/index.ts";
import { DiskSpace } from "../../../src/storage/index.ts";
import { available, ffmpegPath, samplePath } from "../../support/checkout.ts";
import { canMount, SmallDisk } from "../../support/small-disk.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { isAtWorkOn, longRecording, until, Workplace } from "./workplace.ts";

const speech = samplePath("jfk.mp3");
const speechSeconds = 11;
const ready = available("tests of listening copies", ffmpegPath, speech);
const hours = 4;

describe.if(ready)("the copy of a recording", () => {
  test("is made when it has completed: whole, readable by the owner alone, with its waveform", async () => {
    using folder = temporaryDirectory();
    const place = new Workplace(folder.path);
    const id = await place.completed(speech, speechSeconds);
    expect(place.copies.stateOf(id)).toEqual({ state: "none", message: expect.stringContaining("not been prepared") });
    place.copies.enqueue(id);
    expect(place.copies.stateOf(id)).toEqual({ state: "making", percent: null });
    const state = await place.until(id, "ready");
    if (state.state !== "ready") throw new Error(state.state);
    expect((await readWaveform(state.files.waveform, { most: 1000 })).peaks.length).toBe(110);
    expect(statSync(state.files.audio).size).toBeWithin(20_000, 60_000);
    expect(place.listening).toEqual([id]);
    expect(statSync(place.dataDirectory.filesOf(id).playback.directory).mode & 0o077).toBe(0);
  });

  test("waits for recordings in hand, unless somebody opens it", async () => {
    using folder = temporaryDirectory();
    const place = new Workplace(folder.path);
    const [waits, opened] = [
      await place.completed(speech, speechSeconds),
      await place.completed(speech, speechSeconds),
    ];
    place.isBusy = true;
    place.copies.enqueue(waits);
    place.copies.enqueue(opened);
    expect(place.copies.request(opened)).toEqual({ state: "making", percent: null });
    await place.until(opened, "ready");
    place.copies.startNext();
    expect(place.copies.stateOf(waits).state).toBe("none");
    place.isBusy = false;
    place.copies.startNext();
    await place.until(waits, "ready");
  });

  test("that is opened comes before one that nobody waits for, which is made after it", async () => {
    using folder = temporaryDirectory();
    const place = new Workplace(folder.path);
    const long = await place.completed(longRecording(join(folder.path, "long.wav"), 1), 3600);
    const short = await place.completed(speech, speechSeconds);
    place.copies.enqueue(long);
    await place.untilBegun(long);
    place.copies.request(short);
    await place.until(short, "ready");
    expect(place.listening).not.toContain(long);
    place.copies.request(long);
    await place.until(long, "ready");
    expect(place.listening).toEqual([long, short]);
  }, 300_000);

  test("keeps its place however often it is asked for", async () => {
    using folder = temporaryDirectory();
    const place = new Workplace(folder.path);
    const ids: string[] = [];
    while (ids.length < 3) ids.push(await place.completed(speech, speechSeconds));
    const made: string[] = [];
    for (const id of ids) place.copies.request(id);
    await until(() => {
      for (const id of ids.toReversed())
        if (place.copies.request(id).state === "ready" && !made.includes(id)) made.push(id);
      return made.length === 3;
    });
    expect(made).toEqual(ids);
  });

  test("is not made of an open, undecoded, or removed recording, and the message gives the reason", async () => {
    using folder = temporaryDirectory();
    const place = new Workplace(folder.path);
    const open = await place.enter(speech);
    const silent = await place.enter(speech);
    place.recordings.fail(silent, { reason: "no_speech" });
    const gone = await place.completed(speech, speechSeconds);
    rmSync(place.dataDirectory.filesOf(gone).upload);
    const unknown = Bun.randomUUIDv7();
    const said = [open, silent, gone, unknown].map((id) => place.copies.request(id));
    const none = (words: string) => ({ state: "none" as const, message: expect.stringContaining(words) });
    expect(said).toEqual([
      none("when it is completed"),
      none("decoded"),
      none("retention.audio_days"),
      none("no such"),
    ]);
    for (const id of [open, silent, gone, unknown]) place.copies.enqueue(id);
    const last = await place.completed(speech, speechSeconds);
    place.copies.request(last);
    await place.until(last, "ready");
    expect(place.listening).toEqual([last]);
  });

  test("of one that failed after it was decoded is made for who opens it, and not before", async () => {
    using folder = temporaryDirectory();
    const place = new Workplace(folder.path);
    const id = await place.enter(speech);
    place.recordings.claim(id);
    place.recordings.describe(id, { durationSeconds: speechSeconds });
    place.recordings.fail(id, { reason: "internal", cause: "engine_crashed" });
    place.copies.enqueue(id);
    await place.copies.stop();
    expect(place.listening).toEqual([]);
    const next = new Workplace(folder.path);
    next.copies.request(id);
    await next.until(id, "ready");
  });

  test("of what ffmpeg can't read is not tried again and again", async () => {
    using folder = temporaryDirectory();
    const place = new Workplace(folder.path);
    const id = await place.completed(join(import.meta.dir, "workplace.ts"), 5);
    place.copies.request(id);
    expect(await place.until(id, "failed")).toEqual({
      state: "failed",
      message: expect.stringMatching(/^The recording can't be prepared for playback: .*[^.]\.$/),
    });
    place.now += 3_600_000;
    expect(place.copies.request(id).state).toBe("failed");
    await place.copies.enqueueMissing();
    expect(place.copies.stateOf(id).state).toBe("failed");
    expect(place.listening).toEqual([]);
  });
});

describe.if(ready)("whatever ends the work on a copy", () => {
  test("a server that stops leaves nothing of it, and the next one makes it", async () => {
    using folder = temporaryDirectory();
    const first = new Workplace(folder.path);
    const long = longRecording(join(folder.path, "long.wav"), hours);
    const id = await first.completed(long, hours * 3600);
    first.copies.enqueue(id);
    await first.untilBegun(id);
    await first.copies.stop();
    expect([first.listening, isAtWorkOn(folder.path)]).toEqual([[], false]);
    first.copies.request(id);
    expect(first.copies.stateOf(id).state).toBe("none");

    const second = new Workplace(folder.path);
    second.now = first.now;
    const short = await second.completed(speech, speechSeconds);
    await second.copies.enqueueMissing();
    // The newest one first.
    await second.until(short, "ready");
    await second.untilBegun(id);
    await second.copies.stop();
  }, 60_000);

  test("a server that is killed leaves no half of it under its name, no ffmpeg, and a draft until the next start", async () => {
    using folder = temporaryDirectory();
    const long = longRecording(join(folder.path, "long.wav"), hours);
    const child = Bun.spawn(
      [process.execPath, join(import.meta.dir, "make-child.ts"), folder.path, long, String(hours * 3600)],
      { stdout: "pipe", stderr: "inherit" },
    );
    const { value } = await child.stdout.getReader().read();
    const id = new TextDecoder().decode(value).trim();
    child.kill("SIGKILL");
    await child.exited;
    await until(() => !isAtWorkOn(folder.path));
    const next = new Workplace(folder.path);
    expect(next.listening).toEqual([`${id}.part`]);
    expect(next.copies.stateOf(id).state).toBe("none");
    next.dataDirectory.cleanUp((ids) => next.recordings.open.areOpen(ids));
    expect(next.listening).toEqual([]);
    await next.copies.enqueueMissing();
    await next.untilBegun(id);
    await next.copies.stop();
  }, 60_000);

  test("one that is deleted meanwhile leaves nothing, at once", async () => {
    using folder = temporaryDirectory();
    const place = new Workplace(folder.path);
    const id = await place.completed(longRecording(join(folder.path, "long.wav"), hours), hours * 3600);
    place.copies.enqueue(id);
    await place.untilBegun(id);
    place.recordings.delete(id);
    await place.dataDirectory.filesOf(id).removeAll();
    await until(() => !isAtWorkOn(folder.path));
    await place.copies.stop();
    expect([place.listening, existsSync(place.dataDirectory.filesOf(id).upload)]).toEqual([[], false]);
  }, 60_000);

  test("one whose upload goes with retention goes too, made or in the making", async () => {
    using folder = temporaryDirectory();
    const place = new Workplace(folder.path);
    const made = await place.completed(speech, speechSeconds);
    place.copies.enqueue(made);
    await place.until(made, "ready");
    const making = await place.completed(longRecording(join(folder.path, "long.wav"), hours), hours * 3600);
    place.copies.enqueue(making);
    await place.untilBegun(making);
    place.now += 8 * 86_400_000;
    const rules = { audioDays: 7, completedDays: 0 };
    await applyRetention(place.recordings, place.dataDirectory, rules, place.now);
    await until(() => !isAtWorkOn(folder.path));
    await place.copies.stop();
    expect(place.listening).toEqual([]);
    expect(place.copies.stateOf(made)).toMatchObject({
      state: "none",
      message: expect.stringContaining("no longer stored"),
    });
  }, 60_000);
});

test.if(ready)("a database that can't be read for a while ends nothing but the copy that was being made", async () => {
  using folder = temporaryDirectory();
  let isReadable = true;
  const read = <T>(value: () => T): T => {
    if (!isReadable) throw Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR" });
    return value();
  };
  const place: Workplace = new Workplace(folder.path, {
    recordings: { get: (id) => read(() => place.recordings.get(id)) },
    isBusy: () => read(() => false),
  });
  const ids = [await place.completed(speech, speechSeconds), await place.completed(speech, speechSeconds)];
  for (const id of ids) place.copies.enqueue(id);
  isReadable = false;
  await Bun.sleep(50);
  expect(place.listening).toEqual([]);
  isReadable = true;
  place.now += 300_000;
  place.copies.startNext();
  for (const id of ids) await place.until(id, "ready");
});

describe.if(ready && canMount)("a full disk", () => {
  test("that lacks room for it beforehand is said in words, and asked again later", async () => {
    using folder = temporaryDirectory();
    let reserve = Number.MAX_SAFE_INTEGER;
    const place = new Workplace(folder.path, { diskSpace: new DiskSpace(folder.path, () => reserve) });
    const id = await place.completed(speech, speechSeconds);
    place.copies.enqueue(id);
    await until(() => place.copies.stateOf(id).state === "none");
    expect(place.copies.request(id).state).toBe("making");
    expect(await place.until(id, "failed")).toMatchObject({ message: expect.stringContaining("the disk is full") });
    reserve = 0;
    expect(place.copies.request(id).state).toBe("failed");
    place.now += 10_000;
    place.copies.request(id);
    await place.until(id, "ready");
  });

  test("that fills in the middle leaves no part of it, and is made when there is room", async () => {
    using folder = temporaryDirectory();
    using disk = new SmallDisk(folder.path, "size=40m");
    using elsewhere = temporaryDirectory();
    const place = new Workplace(folder.path);
    const noise = join(elsewhere.path, "noise.wav");
    Bun.spawnSync([ffmpegPath, "-v", "error", "-f", "lavfi", "-i", "anoisesrc=d=600:r=16000", noise]);
    const long = await place.completed(noise, 600);
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

  test("holds up those that nobody asked for, all of them, until the machine may have room again", async () => {
    using folder = temporaryDirectory();
    let reserve = Number.MAX_SAFE_INTEGER;
    let looks = 0;
    const room = new DiskSpace(folder.path, () => {
      looks++;
      return reserve;
    });
    const place = new Workplace(folder.path, { diskSpace: room });
    const ids = [await place.completed(speech, speechSeconds), await place.completed(speech, speechSeconds)];
    await place.copies.enqueueMissing();
    await until(() => looks > 0 && place.copies.stateOf(ids[1] ?? "").state === "none");
    const looked = looks;
    place.copies.startNext();
    await Bun.sleep(50);
    expect(looks).toBe(looked);
    reserve = 0;
    place.now += 300_000;
    place.copies.startNext();
    for (const id of ids) await place.until(id, "ready");
  });
});
