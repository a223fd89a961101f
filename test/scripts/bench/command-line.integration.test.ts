import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { readRuns } from "../../../tools/bench/competitor.ts";
import { describe as describeRuns } from "../../../tools/bench/run-tables.ts";

const script = join(import.meta.dir, "../../../scripts/bench");

async function run(...args: readonly string[]) {
  const child = Bun.spawn([script, ...args], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { output, errors, exitCode: child.exitCode };
}

describe("scripts/bench", () => {
  test("lists the options and the separate parts", async () => {
    const { output, exitCode } = await run("--help");
    expect(exitCode).toBe(0);
    for (const word of [
      "--runs",
      "--at-once",
      "--write",
      "scripts/bench PART",
      "Parts: capacity, console, ",
      " parakeet, ",
    ]) {
      expect(output).toContain(word);
    }
  });

  test.each([
    [["nothing"], "Unexpected argument 'nothing'"],
    [["--runs", "some"], "--runs is a whole number from 0, not some"],
    [["--at-once", "3"], "--at-once is 1, 2 or 5, not 3"],
    [["--recording", "songs"], "--recording is meetings or dialogues, not songs"],
    [["--audio", "/nowhere"], "/nowhere contains no manifest.json"],
    [["--add", "/nowhere.json"], "/nowhere.json was not written by --json"],
    [["parakeet", "--form", "int8"], "--form is f32, f16, q8_0, q5_0 or q4_0, not int8"],
    [["parakeet", "--only", "songs"], "--only selects none of Parakeet 0.6B q8_0, a window on"],
    [["parakeet", "--native", "/nowhere"], "/nowhere has no native libraries"],
    [["live", "--only", "songs"], "--only selects none of transcribe, with speakers; WhisperLive"],
    [["live", "--sessions", "0"], "--sessions is a whole number from 1, not 0"],
    [["--cpu", "haswel"], "--cpu is auto, "],
    [["fleet", "--part", "two"], "--part is one, many or overhead, not two"],
    [["scale", "--part", "two"], "--part is real or simulated, not two"],
    [["scale", "--write", "--part", "real"], "--write needs all parts at their full length"],
    [["fleet", "--write", "--short"], "--write needs all parts at their full length"],
  ])("refuses %p before any measurement", async (args, reason) => {
    const { output, errors, exitCode } = await run(...args);
    expect([output, exitCode]).toEqual(["", 2]);
    expect(errors).toStartWith("bench: ");
    expect(errors).toContain(reason);
    expect(errors.trim().split("\n")).toHaveLength(1);
  });
});

describe("runs of an earlier --json", () => {
  const now = { date: "2026-11-22", commit: "abc", machine: "2 × CPU", threads: 2, language: null, cpu: "auto" };
  const figures = { seconds: 1, cpuSeconds: 2, peakBytes: { server: 3 }, steps: [], texts: ["a"] };
  const kept = { recording: "meetings" as const, atOnce: 1, by: "ours", figures };

  async function keep(values: object) {
    const folder = temporaryDirectory();
    const path = join(folder.path, "kept.json");
    await Bun.write(path, JSON.stringify({ ...now, date: "2026-11-21", runs: [kept], ...values }));
    return { path, [Symbol.dispose]: () => folder[Symbol.dispose]() };
  }

  test("are included, whatever their day is", async () => {
    using file = await keep({});
    expect(await readRuns([file.path, file.path], now)).toEqual([kept, kept]);
  });

  test.each([
    [{ commit: "def" }, "another commit"],
    [{ machine: "64 × CPU" }, "another machine"],
    [{ threads: 1 }, "another threads"],
    [{ language: "en" }, "another language"],
    [{ cpu: "haswell" }, "another cpu: haswell, not auto"],
    [{ cpu: undefined }, "was not written by --json"],
    [{ runs: [{ ...kept, figures: {} }] }, "was not written by --json"],
    [{ runs: [{ ...kept, recording: "songs" }] }, "was not written by --json"],
  ])("are refused when they have %p", async (values, reason) => {
    using file = await keep(values);
    await expect(readRuns([file.path], now)).rejects.toThrow(reason);
  });
});

test("the table names the circumstances of its runs", () => {
  const bench = { date: "2026-11-22", commit: "abc", machine: "2 × CPU", threads: 2, language: null, cpu: "auto" };
  const expected = "2026-11-22, commit abc, 2 × CPU, 2 threads, language detected, medians of 1 to 3 runs";
  expect(describeRuns(bench, [{ runs: 3 }, { runs: 1 }])).toBe(expected);
  const limited =
    "2026-11-22, commit abc, 2 × CPU, 2 threads, CPU variant haswell, language detected, medians of 1 run";
  expect(describeRuns({ ...bench, cpu: "haswell" }, [{ runs: 1 }])).toBe(limited);
});
