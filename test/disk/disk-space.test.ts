import { describe, expect, test } from "bun:test";
import { type StatsFs, statfsSync } from "node:fs";
import { DiskSpace, MachineError, machineTrouble } from "../../src/disk/index.ts";

const real = statfsSync("/");
const megabyte = 1_000_000;

/** Returns the space of a disk with this much free space, and a reserve of 160 MB. */
function diskWith(disk: { free: number; files?: number; total?: number }): DiskSpace {
  const statfs = (): StatsFs => ({
    ...real,
    bsize: 1,
    bavail: disk.free,
    files: disk.total ?? 1_000_000,
    ffree: disk.files ?? 100_000,
  });
  return new DiskSpace("/", () => 160 * megabyte, statfs);
}

describe("disk space", () => {
  test("for new recordings excludes the reserve, for accepted recordings a sixteenth of it", () => {
    const space = diskWith({ free: 100 * megabyte });
    expect(space.shortage(0, "intake")).toBe("the disk is full: 100 MB are free, of which 160 MB stay reserved");
    expect(space.shortage(90 * megabyte, "work")).toBeNull();
    expect(space.shortage(91 * megabyte, "work")).toContain("91 MB more are needed");
  });

  test("that is reserved cannot be reserved again until it is written or released", () => {
    const disk = { free: 500 * megabyte };
    const space = diskWith(disk);
    const first = space.reserve(200 * megabyte, "intake");
    expect(() => space.reserve(200 * megabyte, "intake")).toThrow(MachineError);
    expect(space.shortage(140 * megabyte, "intake")).toBeNull();
    first.written(150 * megabyte);
    disk.free -= 150 * megabyte;
    expect(space.shortage(140 * megabyte, "intake")).toBeNull();
    expect(space.shortage(141 * megabyte, "intake")).not.toBeNull();
    first[Symbol.dispose]();
    expect(space.shortage(190 * megabyte, "intake")).toBeNull();
    first[Symbol.dispose]();
    expect(space.shortage(191 * megabyte, "intake")).not.toBeNull();
  });

  test("is checked again while more is written than was reserved", () => {
    const disk = { free: 170 * megabyte };
    const space = diskWith(disk);
    using reservation = space.reserve(0, "intake");
    const write = () => {
      for (let written = 0; written < 30; written++) {
        disk.free -= megabyte;
        reservation.written(megabyte);
      }
    };
    expect(write).toThrow("the disk is full");
    // The check comes within a few megabytes.
    expect(disk.free).toBeGreaterThan(150 * megabyte);
  });

  test.each([
    [199, 1_000_000, "only 199 more files fit on the disk"],
    [200, 1_000_000, null],
    [0, 0, null],
  ])("is short with %i free inodes of %i, unless the file system has no fixed number", (files, total, lack) => {
    expect(diskWith({ free: 1000 * megabyte, files, total }).shortage(0, "intake")).toBe(lack);
  });

  test("is assumed where the file system does not report it", () => {
    const space = new DiskSpace("/no/such/place", () => megabyte);
    expect(space.shortage(megabyte, "intake")).toBeNull();
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
])("the code %s of an error's cause means the trouble %s", (code, kind) => {
  const error = new Error("outer", { cause: new Error("middle", { cause: new MachineError(code, "inner") }) });
  expect(machineTrouble(error)?.kind).toBe(kind as never);
});
