import { describe, expect, test } from "bun:test";
import { defineCommand } from "../../tools/shared/command.ts";
import {
  flag,
  oneOf,
  positive,
  readArguments,
  someOf,
  text,
  texts,
  whole,
  wholes,
} from "../../tools/shared/options.ts";

const options = {
  runs: whole("number of runs", { least: 0, fallback: 3 }),
  atOnce: wholes("number of copies", { fallback: [1, 5] }),
  hours: positive("length of the recording"),
  form: oneOf("FORM", "weights", { names: ["f16", "q8_0"], fallback: "q8_0" }),
  part: someOf("PART", "parts to measure", ["one", "many", "overhead"]),
  json: text("FILE", "write the figures to FILE"),
  audio: text("DIRECTORY", "use another corpus", "/audio"),
  add: texts("FILE", "include earlier runs"),
  write: flag("store the table"),
};

describe("declared options", () => {
  test("have their defaults when they are not given", () => {
    expect(readArguments([], options, false)).toEqual({
      values: {
        ...{ runs: 3, atOnce: [1, 5], hours: null, form: "q8_0", part: ["one", "many", "overhead"] },
        ...{ json: null, audio: "/audio", add: [], write: false },
      },
      names: [],
    });
  });

  test("have the values of the command line, the last one unless they are repeatable", () => {
    const given = "--runs 0 --at-once 2 --at-once 3 --hours 0.5 --form f16 --part many --json a --json b --write dlg-";
    expect(readArguments([...given.split(" "), "--add", "x", "--add=y"], options, true)).toMatchObject({
      values: {
        ...{ runs: 0, atOnce: [2, 3], hours: 0.5, form: "f16", part: ["many"], json: "b", write: true },
        add: ["x", "y"],
      },
      names: ["dlg-"],
    });
  });

  test.each([
    [["--runs", "some"], "--runs is a whole number from 0, not some"],
    [["--at-once", "0"], "--at-once is a whole number from 1, not 0"],
    [["--hours", "-1"], "Option '--hours' argument is ambiguous"],
    [["--hours=-1"], "--hours is a number above 0, not -1"],
    [["--form", "int8"], "--form is f16 or q8_0, not int8"],
    [["--part", "one", "--part", "two"], "--part is one, many or overhead, not two"],
    [["--write=yes"], "Option '--write' does not take an argument"],
    [["--bogus"], "Unknown option '--bogus'"],
    [["dlg-"], "Unexpected argument 'dlg-'"],
  ])("are refused with a reason: %p", (args, reason) => {
    expect(() => readArguments(args, options, false)).toThrow(reason);
  });

  test("are listed with their placeholders, choices and defaults", () => {
    const about = "Measures something. ".repeat(10).trim();
    const command = defineCommand({ name: "scripts/bench", about, options, names: "NAME", run: async () => {} });
    const usage = command.usage();
    expect(usage).toStartWith("scripts/bench [OPTION…] [NAME…]\n\nMeasures something.");
    expect(usage).toContain("\n  --runs N           number of runs (default: 3)\n");
    expect(usage).toContain("--part PART        parts to measure: one, many or overhead; repeatable (default: all)\n");
    expect(usage).toContain("\n  --write            store the table\n");
    for (const line of usage.split("\n")) expect(line.length).toBeLessThanOrEqual(120);
  });
});
