import { expect, test } from "bun:test";
import { diarizationErrors, errorRates } from "../../support/der.ts";
import { type NamedTurn, parseRttm } from "../../support/rttm.ts";

const turn = (startSeconds: number, endSeconds: number, speaker: string): NamedTurn => ({
  startSeconds,
  endSeconds,
  speaker,
});
const reference = [turn(0, 4, "a"), turn(3.5, 7, "b"), turn(8, 9.5, "a"), turn(9.5, 12, "c"), turn(11, 13, "b")];
const found = [
  turn(0.2, 3.8, "x"),
  turn(3.8, 7.4, "y"),
  turn(7.9, 9, "y"),
  turn(9, 11.5, "z"),
  turn(11.2, 13.1, "x"),
  turn(14, 14.5, "w"),
];

test("errors with overlaps, strangers and swapped speakers are those of pyannote.metrics 4.2.0", () => {
  const errors = diarizationErrors(reference, found);
  expect(errors.totalSeconds).toBeCloseTo(13.5, 9);
  expect(errors.falseAlarmSeconds).toBeCloseTo(1.1, 9);
  expect(errors.missedSeconds).toBeCloseTo(1.4, 9);
  expect(errors.confusionSeconds).toBeCloseTo(3.3, 9);
  expect(errorRates(errors).errorRate).toBeCloseTo(0.42962962962962964, 9);
});

test("the same turns under other names are no error", () => {
  const renamed = reference.map((one) => ({ ...one, speaker: `other ${one.speaker}` }));
  expect(errorRates(diarizationErrors(reference, renamed)).errorRate).toBeCloseTo(0, 12);
});

test("nothing found is all missed", () => {
  expect(errorRates(diarizationErrors(reference, []))).toEqual({
    errorRate: 1,
    falseAlarm: 0,
    missed: 1,
    confusion: 0,
  });
});

test("RTTM is read with its times and names, and other lines are passed over", () => {
  const text = "SPKR-INFO x 1 <NA>\nSPEAKER x 1 6.690 0.430 <NA> <NA> speaker90 <NA> <NA>\n\n";
  expect(parseRttm(text)).toEqual([{ startSeconds: 6.69, endSeconds: 7.12, speaker: "speaker90" }]);
  expect(() => parseRttm("SPEAKER x 1 one two <NA> <NA> a")).toThrow("not an RTTM speaker line");
});
