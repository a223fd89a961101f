import { describe, expect, test } from "bun:test";
import { type StatsFs, statfsSync } from "node:fs";
import { DiskSpace, MachineError, machineTrouble } from "../../src/storage/index.ts";

const real = statfsSync("/");
const megabyte = 1_000_000;

/** Room on a disk of which so much is free, with a reserve of 160 MB. */
function roomOn(disk: { free: number; files?: number; total?: number }): DiskSpace {
  const look = (): StatsFs => ({
    ...real,
    bsize: 1,
    bavail: disk.free,
    files: disk.total ?? 1_000_000,
    ffree: disk.files ?? 100_000,
  });
  return new DiskSpace("/", () => 160 * megabyte, look);
}

describe("room on the disk", () => {
  test("is kept for the work on what is in: creates leave the reserve, work leaves a sixteenth of it", () => {
    const room = roomOn({ free: 100 * megabyte });
    expect(room.shortage(0, "intake")).toBe("the disk is full: 100 MB are free, of which 160 MB are kept free");
    expect(room.shortage(90 * megabyte, "work")).toBeNull();
    expect(room.shortage(91 * megabyte, "work")).toContain("91 MB more are needed");
  });

  test("that is promised to one is nobody else's until it is written or given back", () => {
    const disk = { free: 500 * megabyte };
    const room = roomOn(disk);
    const first = room.reserve(200 * megabyte, "intake");
    expect(() => room.reserve(200 * megabyte, "intake")).toThrow(MachineError);
    expect(room.shortage(140 * megabyte, "intake")).toBeNull();
    first.written(150 * megabyte);
    disk.free -= 150 * megabyte;
    expect(room.shortage(140 * megabyte, "intake")).toBeNull();
    expect(room.shortage(141 * megabyte, "intake")).not.toBeNull();
    first[Symbol.dispose]();
    expect(room.shortage(190 * megabyte, "intake")).toBeNull();
    first[Symbol.dispose]();
    expect(room.shortage(191 * megabyte, "intake")).not.toBeNull();
  });

  test("is looked for again while more is written than was promised", () => {
    const disk = { free: 170 * megabyte };
    const room = roomOn(disk);
    using claim = room.reserve(0, "intake");
    const write = () => {
      for (let written = 0; written < 30; written++) {
        disk.free -= megabyte;
        claim.written(megabyte);
      }
    };
    expect(write).toThrow("the disk is full");
    // It is seen within a few megabytes.
    expect(disk.free).toBeGreaterThan(150 * megabyte);
  });

  test.each([
    [199, 1_000_000, "only 199 more files fit on the disk"],
    [200, 1_000_000, null],
    [0, 0, null],
  ])("with %i more files of %i there is none, unless the file system doesn't count them", (files, total, lack) => {
    expect(roomOn({ free: 1000 * megabyte, files, total }).shortage(0, "intake")).toBe(lack);
  });

  test("is taken to be there where the disk can't be asked", () => {
    const room = new DiskSpace("/no/such/place", () => megabyte);
    expect(room.shortage(megabyte, "intake")).toBeNull();
  });
});

test.each([
  ["ENOSPC", "disk_full"],
  ["EDQUOT", "disk_full"],
  ["SQLITE_FULL", "disk_full"],
  ["EROFS", "read_only"],
  ["SQLITE_READONLY", "read_only"],
  ["SQLITE_READONLY_DBMOVED", "read_only"],
  ["SQLITE_IOERR_WRITE", "io_error"],
  ["EIO", "io_error"],
  ["EMFILE", "too_many_files"],
  ["ENFILE", "too_many_files"],
  ["SQLITE_CANTOPEN", "too_many_files"],
  ["SQLITE_BUSY_SNAPSHOT", "database_busy"],
  ["NO_ROOM", "no_room"],
  ["ENOENT", undefined],
  ["EACCES", undefined],
  ["SQLITE_CONSTRAINT", undefined],
  ["SQLITE_CORRUPT", undefined],
])("%s is %s of the machine, however deep it lies", (code, kind) => {
  const error = new Error("outer", { cause: new Error("middle", { cause: new MachineError(code, "inner") }) });
  expect(machineTrouble(error)?.kind).toBe(kind as never);
});
