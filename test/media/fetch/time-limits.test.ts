import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { TimeLimits } from "../../../src/media/fetch/time-limits.ts";
import { MediaError } from "../../../src/media/index.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

describe("the total time of a fetch", () => {
  let now = 0;
  const performanceNow = performance.now;
  beforeEach(() => {
    jest.useFakeTimers();
    now = 0;
    performance.now = () => now;
  });
  afterEach(() => {
    performance.now = performanceNow;
    jest.useRealTimers();
  });

  /** Advances the time with this many bytes per second and returns the second in which the fetch is aborted. */
  function endsAfter(
    bytesPerSecond: (second: number) => number,
    { announced = null as number | null, maxSeconds = 3600, stallSeconds = 30, patience = 40_000 } = {},
  ): readonly [seconds: number, fault: string] | null {
    using limits = new TimeLimits({ maxSeconds, stallSeconds, signal: new AbortController().signal });
    limits.enter("body");
    if (announced !== null) limits.announced(announced);
    let arrived = 0;
    for (let second = 1; second <= patience; second++) {
      now += 1000;
      jest.advanceTimersByTime(1000);
      const { reason } = limits.signal;
      if (reason instanceof MediaError) return [second, reason.fault];
      const bytes = bytesPerSecond(second);
      arrived += bytes;
      limits.received(bytes);
      if (announced !== null && arrived >= announced) return null;
    }
    return null;
  }
  const steady = (bytes: number) => () => bytes;

  test.each([
    [
      "is a minute, and the time for its size at 16 KiB/s, for a small recording",
      steady(KIB),
      { announced: 160 * KIB },
      70,
    ],
    ["is the time for its size for a large recording", steady(KIB), { announced: 16 * MIB }, 60 + 1024],
    ["depends on the received bytes for a recording of unknown size", steady(8 * KIB), {}, 119],
    ["is little more than a minute for a slow recording of unknown size", steady(KIB), {}, 64],
    ["includes the time that a fast beginning has earned", (at: number) => (at === 1 ? MIB : KIB), {}, 133],
  ])("%s", (_, bytesPerSecond, given, seconds) => {
    expect(endsAfter(bytesPerSecond, given)).toEqual([seconds, "fetch_too_slow"]);
  });

  test.each([
    ["a recording at the minimum speed", steady(16 * KIB), { announced: 32 * MIB }],
    ["a recording of unknown size at the minimum speed", steady(16 * KIB), { patience: 3000 }],
    [
      "a recording that makes up for a slow minute",
      (at: number) => (at < 60 ? KIB : 17 * KIB),
      { announced: 32 * MIB },
    ],
  ])("has no effect on %s", (_, bytesPerSecond, given) => {
    expect(endsAfter(bytesPerSecond, given)).toBeNull();
  });

  test("never exceeds the operator's limit", () => {
    expect(endsAfter(steady(16 * KIB), { announced: 512 * MIB })).toEqual([3600, "fetch_timed_out"]);
    expect(endsAfter(steady(16 * KIB), { announced: 512 * MIB, maxSeconds: 30 })).toEqual([30, "fetch_timed_out"]);
  });

  test("includes the stall time that the operator permits", () => {
    const late = (at: number) => (at < 110 ? 0 : MIB);
    expect(endsAfter(late, { stallSeconds: 120, patience: 300 })).toBeNull();
    expect(endsAfter(late, { stallSeconds: 50 })?.[1]).toBe("fetch_too_slow");
  });
});
