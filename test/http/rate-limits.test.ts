import { describe, expect, test } from "bun:test";
import { SlidingWindow } from "../../src/http/shared/rate-limits.ts";

describe("a sliding window", () => {
  test("accepts as many events as its limit within any minute, and reports to the millisecond when the next one passes", () => {
    const window = new SlidingWindow(60_000);
    for (const at of [0, 10_000, 20_000]) expect(window.spend("a", 3, at).allowed).toBe(true);
    expect(window.spend("a", 3, 30_000)).toEqual({ allowed: false, remaining: 0, retryMilliseconds: 30_000 });
    expect(window.spend("a", 3, 59_999)).toEqual({ allowed: false, remaining: 0, retryMilliseconds: 1 });
    expect(window.spend("a", 3, 60_000).allowed).toBe(true);
    expect(window.spend("a", 3, 60_001)).toEqual({ allowed: false, remaining: 0, retryMilliseconds: 9_999 });
  });

  test("counts every subject separately", () => {
    const window = new SlidingWindow(1000);
    expect(window.spend("a", 1, 0).allowed).toBe(true);
    expect(window.spend("b", 1, 0).allowed).toBe(true);
    expect(window.spend("a", 1, 1).allowed).toBe(false);
  });

  test("follows a limit that is raised or lowered", () => {
    const window = new SlidingWindow(1000);
    for (let at = 0; at < 10; at++) window.spend("a", 10, at * 10);
    expect(window.spend("a", 11, 100)).toEqual({ allowed: true, remaining: 0, retryMilliseconds: 0 });
    // Eleven events are at 0, 10 … 100. All but one have to leave the window before a limit of two allows another.
    expect(window.spend("a", 2, 101)).toEqual({ allowed: false, remaining: 0, retryMilliseconds: 90 + 1000 - 101 });
    expect(window.spend("a", 2, 1090)).toEqual({ allowed: true, remaining: 0, retryMilliseconds: 0 });
  });

  test("drops only the oldest subject when there are too many", () => {
    const window = new SlidingWindow(1000, 2);
    for (const subject of ["a", "b", "c"]) expect(window.spend(subject, 1, 0).allowed).toBe(true);
    expect([window.spend("b", 1, 1).allowed, window.spend("c", 1, 1).allowed]).toEqual([false, false]);
    expect(window.spend("a", 1, 1).allowed).toBe(true);
    expect([window.spend("c", 1, 1).allowed, window.spend("b", 1, 1).allowed]).toEqual([false, true]);
  });

  test("refuses everything with a limit of zero", () => {
    const window = new SlidingWindow(1000);
    expect(window.spend("a", 0, 5)).toEqual({ allowed: false, remaining: 0, retryMilliseconds: 1000 });
  });
});
