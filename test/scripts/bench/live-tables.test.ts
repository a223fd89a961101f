import { describe, expect, test } from "bun:test";
import type { LiveRun } from "../../../tools/bench/live/measure.ts";
import { ourName } from "../../../tools/bench/live/programs.ts";
import { goalRun, goalsOf, programsTable, summaryOf, textsOf, waitingTable } from "../../../tools/bench/live/tables.ts";
import type { Waiting } from "../../../tools/bench/live/waiting.ts";

const delays = (...seconds: readonly number[]) => seconds.map((each, index) => ({ endSeconds: index, seconds: each }));
const normalise = (_: string, text: string) => text.split(" ").filter((word) => word !== "");
const said = "we all go home";
const session: LiveRun["of"][number] = {
  ...{ shown: delays(0.5, 0.6, 0.7), final: delays(1, 1.5, 1.8), displays: [], endedAfter: 0.5 },
  ...{ words: 4, withdrawn: 1, changedFinal: 0, inSilence: 2 },
  texts: [
    { final: "we all go", batch: "we all go home", said },
    { final: "anything", batch: "else", said: null },
  ],
};
const run: LiveRun = {
  ...{ program: ourName, sessions: 2, seconds: 186, wallSeconds: 200, cpuSeconds: 160, peakBytes: 800 * 1024 ** 2 },
  of: [session, { ...session, shown: delays(0.9, 1, 1.1), texts: [{ final: said, batch: said, said }] }],
};

describe("the figures of a run", () => {
  test("are those of all its sessions, with word errors where the text is known", () => {
    const { shown, final, growth, keepsUp, errors, batchErrors, ...rest } = summaryOf(run, normalise);
    expect(shown).toEqual({ median: 0.8, p95: 1.1 });
    expect(final).toEqual({ median: 1.5, p95: 1.8 });
    expect([growth.toFixed(2), keepsUp]).toEqual(["0.80", true]);
    expect([errors, batchErrors]).toEqual([
      { errors: 1, length: 8 },
      { errors: 0, length: 8 },
    ]);
    expect(rest).toMatchObject({ withdrawn: 0.25, inSilence: 4, cpuShare: 0.4 });
    expect(textsOf([run])).not.toContain("anything");
  });

  test.each([
    ["growing delays", { final: delays(1, 2, 3) }],
    ["words that are not final in time", { endedAfter: null }],
  ])("tell by %s that sessions fall behind", (_, change) => {
    expect(summaryOf({ ...run, of: [session, { ...session, ...change }] }, normalise).keepsUp).toBe(false);
  });

  test("are a line of the table", () => {
    expect(programsTable([summaryOf(run, normalise)]).lines).toEqual([
      [
        ...[ourName, "2", "186", "0.80", "1.10", "1.50", "1.80", "0.80", "yes", "12.5 %", "0.0 %", "25 %", "4"],
        ...["40 %", "800"],
      ],
    ]);
  });
});

describe("a recording next to sessions", () => {
  const waiting: Waiting[] = [
    { sessions: 0, seconds: [10, 12], shown: [], final: [] },
    { sessions: 1, seconds: [12.1], shown: [0.5], final: [1, 2] },
    { sessions: 2, seconds: [15.4], shown: [0.6], final: [1, 3] },
  ];

  test("has a line for each number of them, with the loss for each", () => {
    expect(waitingTable(waiting).lines).toEqual([
      ["0", "11.0", "1.00", "", "", "", ""],
      ["1", "12.1", "1.10", "10 %", "0.50", "1.50", "2.00"],
      ["2", "15.4", "1.40", "20 %", "0.60", "2.00", "3.00"],
    ]);
  });

  test("counts for the goals, of which each is answered", () => {
    const summary = goalRun([{ ...summaryOf(run, normalise), sessions: 1 }, summaryOf(run, normalise)], ourName);
    expect(goalsOf(summary, waiting)).toBe(
      "Goals for 2 sessions: shown after 1 s: yes; final after 2 s: yes; 95 % final after 3.3 s: yes; " +
        "WER at most 1.5 points above that of a recording: no; no falling behind: yes; " +
        "a waiting recording loses at most 10 % for each session: no.",
    );
    expect(goalsOf(undefined, waiting)).toBeNull();
    expect(goalsOf(summary, [])).not.toContain("waiting");
  });
});
