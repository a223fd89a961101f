import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { TimeLimits } from "../../../src/media/fetch/time-limits.ts";
import { MediaError } from "../../../src/media/index.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

describe("the whole time of a fetch follows from its size", () => {
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

  /** Lets seconds pass, in each of which so many bytes arrive; ends with the second in which the fetch is ended. */
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
    ["a small one has a minute, and what its size takes at 16 KiB/s", steady(KIB), { announced: 160 * KIB }, 70],
    ["a large one has as long as its size takes", steady(KIB), { announced: 16 * MIB }, 60 + 1024],
    ["one of unknown size has what has arrived so far", steady(8 * KIB), {}, 119],
    ["one of unknown size that drips has little more than a minute", steady(KIB), {}, 64],
    ["one that begins fast and then drips has the time it has earned", (at: number) => (at === 1 ? MIB : KIB), {}, 133],
  ])("%s", (_, bytesPerSecond, given, seconds) => {
    expect(endsAfter(bytesPerSecond, given)).toEqual([seconds, "fetch_too_slow"]);
  });

  test.each([
    ["one that arrives at the least speed", steady(16 * KIB), { announced: 32 * MIB }],
    ["one of unknown size at the least speed", steady(16 * KIB), { patience: 3000 }],
    ["one that makes up for a slow minute", (at: number) => (at < 60 ? KIB : 17 * KIB), { announced: 32 * MIB }],
  ])("%s is left in peace", (_, bytesPerSecond, given) => {
    expect(endsAfter(bytesPerSecond, given)).toBeNull();
  });

  test("never exceeds the limit that the operator sets", () => {
    expect(endsAfter(steady(16 * KIB), { announced: 512 * MIB })).toEqual([3600, "fetch_timed_out"]);
    expect(endsAfter(steady(16 * KIB), { announced: 512 * MIB, maxSeconds: 30 })).toEqual([30, "fetch_timed_out"]);
  });

  test("begins to count after the silence that the operator allows", () => {
    const late = (at: number) => (at < 110 ? 0 : MIB);
    expect(endsAfter(late, { stallSeconds: 120, patience: 300 })).toBeNull();
    expect(endsAfter(late, { stallSeconds: 50 })?.[1]).toBe("fetch_too_slow");
  });
});
