import { describe, expect, test } from "bun:test";
import { Pace, UPLOAD_PACE } from "../../../src/http/shared/upload/pace.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** Waits and arrivals of one sender, in order. */
type Arrival = readonly [seconds: number, bytes: number];

/** Seconds after which a sender is refused; `in time` if it never is. */
function endOf(arrivals: Iterable<Arrival>): number | "in time" {
  const pace = new Pace(UPLOAD_PACE);
  let elapsed = 0;
  for (const [seconds, bytes] of arrivals) {
    const patience = pace.millisecondsLeft / 1000;
    if (patience < seconds) return Math.round(elapsed + patience);
    elapsed += seconds;
    pace.count(bytes, seconds * 1000);
  }
  return "in time";
}

function steady(everySeconds: number, bytes: number, times: number): Arrival[] {
  return Array.from({ length: times }, () => [everySeconds, bytes]);
}

const forever = 1_000_000;

describe("the pace of an upload", () => {
  const cases: [string, Arrival[], number | "in time"][] = [
    ["that sends nothing ends after a minute", [[forever, 0]], 60],
    ["of 16 KiB a minute ends a second after its first minute", steady(60, 16 * KIB, 10), 61],
    ["of a byte a second ends after a minute", steady(1, 1, 1000), 60],
    ["of 8 KiB a second ends after twice the first minute", steady(1, 8 * KIB, 1000), 120],
    ["of 15 KiB a second ends, though late", steady(1, 15 * KIB, 100_000), 946],
    ["of 16 KiB a second may take nine hours", steady(1, 16 * KIB, 32_768), "in time"],
    [
      "of a phone that sends 24 KiB a second, with pauses of 50 s, arrives",
      [...Array(100)].flatMap(() => [...steady(1, 24 * KIB, 120), [50, 24 * KIB] as const]),
      "in time",
    ],
    ["of a phone that needs 50 s for its first byte arrives", [[50, 1], ...steady(1, 100 * KIB, 100)], "in time"],
    [
      "that falls silent after 500 MiB ends a minute later",
      [
        [1, 500 * MIB],
        [forever, 0],
      ],
      61,
    ],
    [
      "that sends 500 MiB at once and 8 KiB a minute from then on ends a minute later",
      [[1, 500 * MIB], ...steady(59, 8 * KIB, 100)],
      61,
    ],
    [
      "that sends 1 MiB at once and 32 KiB a minute from then on ends at its total deadline",
      [[1, MIB], ...steady(59, 32 * KIB, 100)],
      128,
    ],
  ];
  test.each(cases)("%s", (_, arrivals, end) => {
    expect(endOf(arrivals)).toBe(end);
  });
});
