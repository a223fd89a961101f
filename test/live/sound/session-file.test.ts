import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { DiskSpace, MachineError } from "../../../src/disk/index.ts";
import { SessionFile, writeWaveFile } from "../../../src/live/sound/index.ts";

const directory = temporaryDirectory();
const MIB = 1024 * 1024;
const never = new AbortController().signal;
const opened: SessionFile[] = [];
let count = 0;

afterEach(() => {
  for (const file of opened.splice(0)) file[Symbol.dispose]();
});

/** Returns the space of a disk with this many free bytes. */
function diskOf(free: () => number): DiskSpace {
  return new DiskSpace(
    directory.path,
    () => 0,
    (path) => ({ ...statfsSync(path), bavail: free(), bsize: 1, ffree: 1e6 }),
  );
}

function open(diskSpace = diskOf(() => 100 * MIB), keep = true, path = join(directory.path, `${count++}.pcm`)) {
  const file = new SessionFile({ path, diskSpace, keep });
  opened.push(file);
  return { file, path, diskSpace };
}

describe("the file of a session", () => {
  test("has samples as soon as they are appended", () => {
    const { file, path } = open();
    file.append(Int16Array.of(1, -2, 3));
    file.append(Int16Array.of(4));
    expect(file.sampleCount).toBe(4);
    expect([...new Int16Array(readFileSync(path).buffer.slice(0))].slice(0, 4)).toEqual([1, -2, 3, 4]);
  });

  test("continues after the samples of an earlier process, without half of one", () => {
    const path = join(directory.path, "earlier.pcm");
    writeFileSync(path, Uint8Array.of(1, 0, 2, 0, 3));
    const { file } = open(undefined, true, path);
    expect(file.sampleCount).toBe(2);
    file.append(Int16Array.of(9));
    expect([...readFileSync(path)]).toEqual([1, 0, 2, 0, 9, 0]);
  });

  test.each([
    [true, 2],
    [false, 1],
  ])("reserves disk space for what arrives next, and again for the recording if it is kept: %p", (keep, times) => {
    const { file, diskSpace } = open(undefined, keep);
    const free = () => diskSpace.freeBytes("work") / MIB;
    expect(free()).toBe(100 - times);
    file.append(new Int16Array(MIB / 2));
    // The simulated disk does not shrink, so that only reservations count.
    expect(free()).toBe(100 - (times - 1));
    file.append(new Int16Array(MIB / 2));
    expect(free()).toBe(100 - 2 * (times - 1));
    file[Symbol.dispose]();
    expect(free()).toBe(100);
  });

  test("refuses samples for which there is no space, and stays as it is", () => {
    let free = 10 * MIB;
    const { file, path } = open(diskOf(() => free));
    file.append(new Int16Array(MIB / 2));
    free = 0;
    expect(() => file.append(new Int16Array(1))).toThrow(MachineError);
    expect(file.sampleCount).toBe(MIB / 2);
    expect(readFileSync(path).length).toBe(MIB);
  });

  test("is not opened on a full disk", () => {
    expect(() => open(diskOf(() => 0))).toThrow(MachineError);
  });

  test("is complete after it was closed during a sync", async () => {
    const { file, path } = open();
    file.append(Int16Array.of(1));
    const syncing = file.sync();
    file.append(Int16Array.of(2));
    await Promise.all([syncing, file.close(), file.close()]);
    expect([...readFileSync(path)]).toEqual([1, 0, 2, 0]);
    expect(() => file.append(Int16Array.of(3))).toThrow("closed");
  });

  test("becomes a WAV file of its first samples", async () => {
    const { file, path } = open();
    file.append(Int16Array.from({ length: MIB }, (_, at) => at % 1000));
    const wave = `${path}.wav`;
    expect(await writeWaveFile(path, MIB - 5, wave, never)).toBe(44 + 2 * (MIB - 5));
    const bytes = readFileSync(wave);
    expect(bytes.subarray(0, 4).toString()).toBe("RIFF");
    expect(bytes.readUInt32LE(40)).toBe(2 * (MIB - 5));
    expect(bytes.subarray(44)).toEqual(readFileSync(path).subarray(0, 2 * (MIB - 5)));
    await expect(writeWaveFile(path, MIB + 1, `${path}.2.wav`, never)).rejects.toThrow("ends after");
  });
});
