import { describe, expect, test } from "bun:test";
import type { Run } from "../../../tools/bench/competitor.ts";
import { overview, rowsOf, stepsTable } from "../../../tools/bench/run-tables.ts";
import { median } from "../../../tools/shared/figures.ts";
import { asMarkdown, asText } from "../../../tools/shared/table.ts";

const recordings = [
  { name: "meetings", seconds: 400 },
  { name: "dialogues", seconds: 300 },
] as const;
/** The text is the number of wrong words, of ten. */
const errorsIn = (recording: string, text: string) =>
  recording === "meetings" ? null : { errors: Number(text), length: 10 };
const options = { recordings, ours: "ours", errorsIn };

function run(
  by: string,
  seconds: number,
  values: Partial<Omit<Run, "figures">> & { figures?: Partial<Run["figures"]> } = {},
): Run {
  const figures = { seconds, cpuSeconds: 2 * seconds, peakBytes: {}, steps: [], texts: ["0"], ...values.figures };
  return { recording: "dialogues", atOnce: 1, by, ...values, figures };
}

describe("the table", () => {
  test("contains medians of all runs, the fastest first, relative to ours", () => {
    const rows = rowsOf([run("ours", 30), run("peer", 9), run("ours", 10), run("peer", 5), run("ours", 20)], options);
    const shown = rows.map(({ by, runs, seconds, timesRealTime, relativeToOurs, cpuSeconds }) => {
      return { by, runs, seconds, timesRealTime, relativeToOurs, cpuSeconds };
    });
    expect(shown).toEqual([
      { by: "peer", runs: 2, seconds: 7, timesRealTime: 300 / 7, relativeToOurs: 0.35, cpuSeconds: 14 },
      { by: "ours", runs: 3, seconds: 20, timesRealTime: 15, relativeToOurs: 1, cpuSeconds: 40 },
    ]);
  });

  test("separates recordings and numbers of copies, in order", () => {
    const rows = rowsOf(
      [
        run("ours", 3),
        run("ours", 50, { recording: "meetings", atOnce: 5 }),
        run("ours", 9, { recording: "meetings" }),
      ],
      options,
    );
    expect(rows.map(({ recording, atOnce, timesRealTime }) => [recording, atOnce, timesRealTime])).toEqual([
      ["meetings", 1, 400 / 9],
      ["meetings", 5, 40],
      ["dialogues", 1, 100],
    ]);
  });

  test("counts word errors over all runs, and none without a reference text", () => {
    const rows = rowsOf(
      [
        run("ours", 3, { figures: { texts: ["1", "2"] } }),
        run("ours", 3, { figures: { texts: ["3"] } }),
        run("ours", 3, { recording: "meetings" }),
      ],
      options,
    );
    expect(rows.map(({ wordErrors }) => wordErrors)).toEqual([null, { errors: 6, length: 30 }]);
  });

  test("contains the peak memory of all runs by process, and the steps that programs report", () => {
    const step = (seconds: number) => [
      { name: "encoder", seconds, count: 19 },
      { name: "decoder", seconds: 6, count: null },
    ];
    const [row] = rowsOf(
      [
        run("ours", 4, { figures: { peakBytes: { server: 5e7, worker: 1e8 }, steps: step(1) } }),
        run("ours", 4, { figures: { peakBytes: { server: 6e7, ffmpeg: 1e7 }, steps: step(3) } }),
      ],
      options,
    );
    expect(row?.peakBytes).toEqual({ server: 6e7, worker: 1e8, ffmpeg: 1e7 });
    expect(row?.steps).toEqual([
      { name: "encoder", seconds: 2, count: 19 },
      { name: "decoder", seconds: 6, count: null },
    ]);
    expect(stepsTable(row === undefined ? [] : [row]).lines).toEqual([
      ["dialogues", "ours", "encoder", "19", "2.0", "25 %"],
      ["dialogues", "ours", "decoder", "", "6.0", "75 %"],
    ]);
  });

  test("has no relative figures when ours was not run", () => {
    const rows = rowsOf([run("peer", 4)], options);
    expect(rows.map(({ relativeToOurs }) => relativeToOurs)).toEqual([null]);
    expect(asText(overview(rows))).not.toMatch(/null|NaN|undefined/);
    expect(asMarkdown(overview(rows))).toEndWith("| dialogues | 1 | peer | 4.0 | 75.0 |  | 8.0 |  | 0.0 % |");
  });
});

test.each([
  [[3], 3],
  [[4, 1], 2.5],
  [[10, 1, 2], 2],
])("the median of %p is %p", (numbers, expected) => {
  expect(median(numbers)).toBe(expected);
});
