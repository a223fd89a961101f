import { describe, expect, test } from "bun:test";
import { readQuantity, type Unit, writeQuantity } from "../../src/config/units.ts";

describe("a number with a unit", () => {
  test.each([
    ["512", "bytes", 512],
    ["512 MiB", "bytes", 512 * 1024 ** 2],
    ["512mib", "bytes", 512 * 1024 ** 2],
    ["2GB", "bytes", 2e9],
    ["1.5 GiB", "bytes", 1.5 * 1024 ** 3],
    ["1.1 GB", "bytes", 1_100_000_000],
    ["0", "bytes", 0],
    ["30s", "seconds", 30],
    ["18h", "seconds", 64_800],
    ["1h 30m", "seconds", 5400],
    ["1h30m", "seconds", 5400],
    ["0.5h", "seconds", 1800],
    ["7d", "days", 7],
    ["2 weeks", "days", 14],
    ["48h", "days", 2],
    ["20h", "minutes", 1200],
    ["0.1h", "minutes", 6],
    ["-1", "days", -1],
  ] as [string, Unit, number][])("%s as %s is %d", (text, unit, value) => {
    expect(readQuantity(text, unit)).toEqual({ ok: true, value });
  });

  test.each([
    ["10m", "bytes", "a unit of time"],
    ["512 MiB", "seconds", "a unit of size"],
    ["512M", "bytes", "write MiB (by 1024) or MB (by 1000)"],
    ["5k", "bytes", "write KiB (by 1024) or KB (by 1000)"],
    ["3 parsecs", "seconds", "parsecs is not a unit of time"],
    ["500ms", "seconds", "ms is not a unit of time"],
    ["1 Mbit", "bytes", "Mbit is not a unit of size"],
    ["36h", "days", "1.5 days"],
    ["90s", "minutes", "1.5 minutes"],
    ["0.5", "days", "not a number with a unit"],
    ["", "days", "not a number with a unit"],
    ["-3d", "days", "not a number with a unit"],
    ["1e3", "bytes", "not a number with a unit"],
    ["1 GiB 5 MiB", "bytes", "not a number with a unit"],
    ["7d.", "days", "not a number with a unit"],
    ["seven days", "days", "not a number with a unit"],
  ] as [string, Unit, string][])("%s is refused as a number of %s with the reason", (text, unit, reason) => {
    expect(readQuantity(text, unit)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });

  test.each([
    [512 * 1024 ** 2, "bytes", "512 MiB"],
    [1, "bytes", "1 byte"],
    [1000, "bytes", "1000 bytes"],
    [90, "seconds", "90s"],
    [86_400, "seconds", "1d"],
    [1200, "minutes", "20h"],
    [14, "days", "14d"],
    [0, "days", "0"],
  ] as [number, Unit, string][])("%d %s is written as %p and read back", (value, unit, text) => {
    expect(writeQuantity(value, unit)).toBe(text);
    expect(readQuantity(text, unit)).toEqual({ ok: true, value });
  });
});
