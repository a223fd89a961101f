import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { cliProgram } from "../../src/cli/index.ts";
import { runHere } from "./run-here.ts";
import { commonValues, wrongCommandLines } from "./wrong-command-lines.ts";

const program = await cliProgram();

function leavesOf(command: Command, path: readonly string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[path.join(" "), command]];
  return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));
}

const leaves = new Map(leavesOf(program));

/** Returns the row of a command, with the common wrong values of its options and arguments. */
function rowOf(name: string) {
  const { valid = [], values = {}, together = [] } = wrongCommandLines[name] ?? {};
  const { options = [], registeredArguments = [] } = leaves.get(name) ?? {};
  const valued = options.filter(({ argChoices }) => argChoices === undefined);
  const declared = [...valued.map(({ long }) => long), ...registeredArguments.map((argument) => argument.name())];
  const common = Object.entries(commonValues).filter(([each]) => declared.includes(each));
  return { valid, values: { ...Object.fromEntries(common), ...values }, together };
}

/** Returns the wrong command lines that a command's declaration implies. */
function impliedBy(name: string, command: Command): string[][] {
  const words = name.split(" ");
  const valid = [...words, ...rowOf(name).valid];
  const operands = command.registeredArguments;
  const takesAny = operands.some(({ variadic }) => variadic);
  const isNeedy = operands.some(({ required }) => required) || command.options.some(({ mandatory }) => mandatory);
  const full = Array.from({ length: operands.length }, () => "extra");
  return [
    [...valid, "--no-such-option"],
    [...valid, "-Z"],
    ...(isNeedy ? [words] : []),
    ...(takesAny ? [] : [[...words, ...full, "extra", ...rowOf(name).valid]]),
    ...command.options.filter(({ required }) => required).map(({ long }) => [...valid, long ?? ""]),
    ...command.options
      .filter(({ argChoices }) => argChoices)
      .map(({ long }) => [...valid, long ?? "", "no-such-choice"]),
  ];
}

/** Returns the command lines with the wrong values of a row. A value of an argument replaces that of the valid line. */
function wrongValuesOf(name: string, command: Command): string[][] {
  const words = name.split(" ");
  const { valid, values } = rowOf(name);
  return Object.entries(values).flatMap(([declared, wrong]) => {
    const operand = command.registeredArguments.findIndex((each) => each.name() === declared);
    if (wrong === "any text") return [];
    return wrong.map((value) => {
      if (operand < 0) return [...words, ...valid, `${declared}=${value}`];
      const operands = valid.slice(0, operand);
      return [...words, ...operands, value, ...valid.slice(operand + 1)];
    });
  });
}

describe("a wrong command line", () => {
  const directory = temporaryDirectory();
  const dataDirectory = join(directory.path, "data");
  const from = process.cwd();
  beforeAll(() => {
    mkdirSync(join(directory.path, "tmp"));
    mkdirSync(join(directory.path, "work"));
    process.chdir(join(directory.path, "work"));
    writeFileSync("there.mp3", "");
  });
  afterAll(() => {
    process.chdir(from);
    directory[Symbol.dispose]();
  });

  const run = (args: readonly string[]) =>
    runHere(args, {
      ...{ TRANSCRIBE_DATA_DIR: dataDirectory, TRANSCRIBE_API_KEY: "trs_key" },
      ...{ TRANSCRIBE_SERVER: "http://127.0.0.1:1", TMPDIR: join(directory.path, "tmp") },
    });

  test("of each command is in the table", () => {
    expect(Object.keys(wrongCommandLines).sort()).toEqual([...leaves.keys()].sort());
  });

  test.each([...leaves])(
    "of %s: each option and argument with a value has wrong values, or takes any text",
    (name, command) => {
      const { values } = rowOf(name);
      const declared = [
        ...command.options.filter((option) => (option.required || option.optional) && option.argChoices === undefined),
      ].map(({ long }) => long ?? "");
      const operands = command.registeredArguments
        .filter(({ argChoices }) => argChoices === undefined)
        .map((each) => each.name());
      expect(Object.keys(values).sort()).toEqual([...declared, ...operands].sort());
    },
  );

  test.each([...leaves])("of %s exits with 2, says what to do, and does nothing", async (name, command) => {
    const lines = [
      ...impliedBy(name, command),
      ...wrongValuesOf(name, command),
      ...rowOf(name).together.map((args) => [...name.split(" "), ...args]),
    ];
    for (const args of lines) {
      const { exitCode, stdout, stderr } = await run(args);
      expect([args.join(" "), exitCode, stdout]).toEqual([args.join(" "), 2, ""]);
      expect(stderr).toMatch(/^transcribe: .{10}/);
      expect(stderr).not.toMatch(/\n\s+at |\.ts:|secret/);
      expect([readdirSync(directory.path).sort(), readdirSync(join(directory.path, "work"))]).toEqual([
        ["tmp", "work"],
        ["there.mp3"],
      ]);
    }
  });

  const groups = program.commands.filter(({ commands }) => commands.length > 0).map((command) => command.name());
  /** Groups that begin one of their commands without its name. */
  const hasDefault = ["console", "standby"];

  test.each([
    ["frobnicate"],
    ...groups.filter((name) => !hasDefault.includes(name)).map((name) => [name, "frobnicate"]),
  ])("%s %s names a command that does not exist", async (...args) => {
    const { exitCode, stdout, stderr } = await run(args.filter((word) => word !== undefined));
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^transcribe: unknown command 'frobnicate'\n\(transcribe .*--help lists the commands\)/);
  });

  test("is answered with the most similar command or option", async () => {
    expect((await run(["submti"])).stderr).toContain("(Did you mean submit?)");
    expect((await run(["keys", "lst"])).stderr).toContain("(Did you mean list?)");
    expect((await run(["list", "--satus", "queued"])).stderr).toContain("(Did you mean --status?)");
    const mistyped = (await run(["keys", "create", "--acount", "acme"])).stderr;
    expect(mistyped).toContain("(unknown option '--acount'. Did you mean --account?)");
  });

  test("can't send control characters to the terminal", async () => {
    const { exitCode, stderr } = await run(["get", "\u001b[2J"]);
    expect([exitCode, stderr]).toEqual([2, expect.not.stringContaining("\u001b")]);
  });

  test.each([["transcribe", program] as [string, Command], ...leaves])(
    "%s is explained by --help with exit code 0",
    async (name) => {
      const { exitCode, stdout, stderr } = await run([...(name === "transcribe" ? [] : name.split(" ")), "--help"]);
      expect([exitCode, stdout, stderr]).toEqual([0, expect.stringMatching(/^Usage: transcribe/), ""]);
    },
  );
});
