import { expect, test } from "bun:test";
import {
  ago,
  bytes,
  clock,
  dayOf,
  duration,
  percent,
  plural,
  roughly,
  together,
} from "../../../src/console/page/format.ts";
import { strings } from "../../../src/console/page/strings.ts";

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

/** Returns a text with each no-break space as `_`. */
const shown = (text: string) => text.replaceAll("\u00a0", "_");

test.each([
  [0, "0_bytes"],
  [1, "1_byte"],
  [999, "999_bytes"],
  [1_000, "1_kB"],
  [1_240_000, "1.2_MB"],
  [9_960_000, "10_MB"],
  [999_499, "999_kB"],
  [999_600, "1_MB"],
  [999_999_999, "1_GB"],
  [33e9, "33_GB"],
  [5e15, "5,000_TB"],
])("a size of %d bytes has a fitting unit, and no line break before it", (size, text) => {
  expect(shown(bytes(size))).toBe(text);
});

test.each([
  [0, "0_sec"],
  [0.2, "1_sec"],
  [40, "40_sec"],
  [59.4, "59_sec"],
  [59.6, "1_min"],
  [90, "1.5_min"],
  [3_560, "59_min"],
  [3_580, "1_hr"],
  [9_000, "2.5_hr"],
  [3_600 * 4_000, "4,000_hr"],
])("a duration of %d seconds has a fitting unit, and no line break before it", (seconds, text) => {
  expect(shown(duration(seconds))).toBe(text);
});

test.each([
  [0, "0"],
  [0.004, "0.004"],
  [0.0449, "0.045"],
  [0.96, "0.96"],
  [1.25, "1.3"],
  [9.96, "10"],
  [32.4, "32"],
  [1_234.5, "1,235"],
])("a speed of %d is rounded to %s", (value, text) => {
  expect(roughly(value)).toBe(text);
});

test("a small share is not shown as none", () => {
  expect([0, 0.001, 0.005, 0.43, 1].map(percent)).toEqual(["0%", "<1%", "1%", "43%", "100%"]);
});

test("ago formats a time relative to now, without a line break after the number", () => {
  const now = Date.parse("2026-11-22T12:00:00Z");
  const relative = (iso: string) => shown(ago(iso, now));
  expect(relative("2026-11-22T11:59:50Z")).toBe("now");
  expect(relative("2026-11-22T11:55:00Z")).toBe("5_minutes ago");
  expect(relative("2026-11-21T12:00:00Z")).toBe("yesterday");
  expect(relative("2026-11-22T14:30:00Z")).toBe("in 2_hours");
});

test("plural selects the form for a number, without a line break after the number", () => {
  const forms = { one: "# file", other: "# files left" };
  expect([0, 1, 2, 1_200].map((count) => shown(plural(count, forms)))).toEqual([
    "0_files left",
    "1_file",
    "2_files left",
    "1,200_files left",
  ]);
});

test("numbers are joined to the words after them only", () => {
  expect(shown(together("at 5 of 12 MB for 3 days 1"))).toBe("at 5_of 12_MB for 3_days 1");
  expect(shown(dayOf("2026-11-21"))).toMatch(/^(21_Nov|Nov 21)$/);
});

test.each([
  ["slots", strings.overview.slots(1, 2), "1_of 2_slots in use"],
  ["lanes", strings.overview.lanes(1, 2), "1 of 2_lanes busy"],
  ["a speed", strings.overview.times("32"), "32×_real_time"],
  ["a high speed", strings.overview.timesMore("1,000"), "over_1,000×_real_time"],
  [
    "the audio of a day",
    strings.overview.idleAfter(duration(120)),
    "All recordings processed: 2_min of audio completed today.",
  ],
  ["open recordings", strings.overview.busy(1, 2_000), "1_recording processing, 2,000_queued."],
  ["a place in the queue", strings.progress.place(3), "Queued, 2_recordings ahead"],
  ["a rate", strings.accounts.rate("60"), "60_requests per minute and key"],
  ["a lifetime", strings.accounts.inDays(90), "After 90_days"],
])("the text of %s has no line break between a number and its unit", (_, text, expected) => {
  expect(shown(text)).toBe(expected);
});
