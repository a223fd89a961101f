import { expect, test } from "bun:test";
import { parseRetryAfter, probeWait, waitAfter } from "../../src/webhooks/waits.ts";

const seconds = (milliseconds: number) => milliseconds / 1000;

test("waits grow from seconds to three hours", () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 40].map((attempts) => seconds(waitAfter(attempts, null, 0.5)));
  expect(waits).toEqual([5, 30, 120, 600, 1800, 3600, 10_800, 10_800, 10_800]);
});

test("waits differ by up to a tenth in both directions", () => {
  expect([0, 1].map((random) => seconds(waitAfter(2, null, random)))).toEqual([27, 33]);
});

test.each([
  ["a longer time than the own wait is respected", 1, 60_000, 60],
  ["a shorter one is not", 2, 1_000, 30],
  ["more than an hour is an hour", 1, 86_400_000, 3600],
])("of Retry-After, %s", (_, attempts, retryAfter, expected) => {
  expect(seconds(waitAfter(attempts, retryAfter, 0.5))).toBe(expected);
});

test("a receiver that has failed four times is left alone for growing times of at most ten minutes", () => {
  const waits = [1, 3, 4, 5, 6, 7, 8, 100].map((failures) => seconds(probeWait(failures, null, 0.5)));
  expect(waits).toEqual([0, 0, 5, 30, 120, 600, 600, 600]);
});

test.each([
  ["seconds", "120", 120_000],
  ["a date", "Thu, 01 Jan 1970 00:01:00 GMT", 50_000],
  ["a date in the past", "Thu, 01 Jan 1970 00:00:01 GMT", 0],
  ["neither", "soon", null],
  ["nothing", undefined, null],
])("Retry-After is read with %s", (_, header, expected) => {
  expect(parseRetryAfter(header, 10_000)).toBe(expected);
});
