import { expect, test } from "bun:test";
import { diarizationErrors, errorRates } from "../../../harness/der.ts";
import { type NamedTurn, parseRttm } from "../../../harness/rttm.ts";

/** `a:0-4`: a speaks from second 0 to second 4. */
function turns(text: string): NamedTurn[] {
  return text.split(" ").map((one) => {
    const [speaker = "", start, end] = one.split(/[:-]/);
    return { startSeconds: Number(start), endSeconds: Number(end), speaker };
  });
}

const reference = turns("a:0-4 b:3.5-7 a:8-9.5 c:9.5-12 b:11-13");

/** Seconds of speech, false alarm, missed speech and confusion: what pyannote.metrics 4.2.0 gave for these turns. */
test.each<[string, string, string, [number, number, number, number]]>([
  [
    "overlaps, unknown and swapped speakers",
    "a:0-4 b:3.5-7 a:8-9.5 c:9.5-12 b:11-13",
    "x:0.2-3.8 y:3.8-7.4 y:7.9-9 z:9-11.5 x:11.2-13.1 w:14-14.5",
    [13.5, 1.1, 1.4, 3.3],
  ],
  ["one speaker as two", "a:0-10", "x:0-6 y:6-10", [10, 0, 0, 4]],
  ["two speakers as one", "a:0-5 b:5-9", "x:0-9", [9, 0, 0, 4]],
  ["turns that touch, late", "a:0-2 b:2-4 a:4-6 b:6-8", "x:0.3-2.3 y:2.3-4.3 x:4.3-6.3 y:6.3-8.3", [8, 0.3, 0.3, 0.9]],
  ["an overlap given to one alone", "a:0-6 b:4-10", "x:0-5 y:5-10", [12, 0, 2, 0]],
  ["three at once, two of them found", "a:0-9 b:2-5 c:3-8", "x:0-9 y:3-6", [17, 0, 5, 0]],
  ["more speakers than there are", "a:0-4 b:5-9", "x:0-2 y:2-4 z:5-7 w:7-9 v:9.5-10", [8, 0.5, 0, 4]],
  ["turns where nobody speaks", "a:1-2", "x:3-5", [1, 2, 1, 0]],
  ["a speaker whose own turns overlap", "a:0-5 b:5-9", "x:0-3 x:2.5-5 y:5-9.5", [9, 1, 0, 0]],
  [
    "eight speakers under six labels",
    "a:0-2 b:2-4 c:4-6 d:6-8 e:8-10 f:10-12 g:12-14 h:14-16",
    "p:0-2.2 q:2.2-4 r:4-6.5 s:6.5-10 t:10-12 u:12-16",
    [16, 0, 0, 4.2],
  ],
])("%s", (_, real, heard, [total, falseAlarm, missed, confusion]) => {
  const errors = diarizationErrors(turns(real), turns(heard));
  expect(errors.totalSeconds).toBeCloseTo(total, 9);
  expect(errors.falseAlarmSeconds).toBeCloseTo(falseAlarm, 9);
  expect(errors.missedSeconds).toBeCloseTo(missed, 9);
  expect(errors.confusionSeconds).toBeCloseTo(confusion, 9);
  expect(errorRates(errors).errorRate).toBeCloseTo((falseAlarm + missed + confusion) / total, 9);
});

test("the same turns under other names are no error", () => {
  const renamed = reference.map((one) => ({ ...one, speaker: `other ${one.speaker}` }));
  expect(errorRates(diarizationErrors(reference, renamed)).errorRate).toBeCloseTo(0, 12);
});

test("an empty result misses all speech", () => {
  const rates = errorRates(diarizationErrors(reference, []));
  expect(rates).toEqual({ errorRate: 1, falseAlarm: 0, missed: 1, confusion: 0 });
});

test("RTTM is read with its times and names, and other lines are ignored", () => {
  const text = "SPKR-INFO x 1 <NA>\nSPEAKER x 1 6.690 0.430 <NA> <NA> speaker90 <NA> <NA>\n\n";
  expect(parseRttm(text)).toEqual([{ startSeconds: 6.69, endSeconds: 7.12, speaker: "speaker90" }]);
  expect(() => parseRttm("SPEAKER x 1 one two <NA> <NA> a")).toThrow("not an RTTM speaker line");
});
