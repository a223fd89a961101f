import { expect, test } from "bun:test";
import { ago, bytes, clock, duration, plural } from "../../src/console-page/format.ts";

test.each([
  [0, "0:00"],
  [59.99, "0:59"],
  [60, "1:00"],
  [3_599, "59:59"],
  [3_600, "1:00:00"],
  [64_805, "18:00:05"],
  [-1, "0:00"],
])("clock formats %d seconds", (seconds, text) => {
  expect(clock(seconds)).toBe(text);
});

test("sizes and durations have a fitting unit", () => {
  expect([0, 999, 1_000, 1_240_000, 33e9].map(bytes)).toEqual(["0 bytes", "999 bytes", "1 kB", "1.2 MB", "33 GB"]);
  expect([0, 40, 90, 9_000].map(duration)).toEqual(["0 sec", "40 sec", "1.5 min", "2.5 hr"]);
});

test("ago formats a time relative to now", () => {
  const now = Date.parse("2026-11-22T12:00:00Z");
  const relative = (iso: string) => ago(iso, now);
  expect(relative("2026-11-22T11:59:50Z")).toBe("now");
  expect(relative("2026-11-22T11:55:00Z")).toBe("5 minutes ago");
  expect(relative("2026-11-21T12:00:00Z")).toBe("yesterday");
  expect(relative("2026-11-22T14:30:00Z")).toBe("in 2 hours");
});

test("plural selects the form for a number", () => {
  const forms = { one: "# file", other: "# files" };
  expect([0, 1, 2, 1_200].map((count) => plural(count, forms))).toEqual([
    "0 files",
    "1 file",
    "2 files",
    "1,200 files",
  ]);
});
