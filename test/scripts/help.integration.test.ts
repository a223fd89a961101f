import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { targetOptions } from "../../tools/build/target.ts";
import { nameOnCommandLine } from "../../tools/shared/options.ts";

setDefaultTimeout(60_000);

const scripts = readdirSync(join(root, "scripts"));
const HELP = "--help, -h";

/** Options of a help text with the placeholders of their values, without --help. */
const optionsOf = (help: string) =>
  [...help.matchAll(/^ {2}(--?[a-z][a-z-]*(?:[ =][A-Z]+)?)(?: |$)/gm)].flatMap(([, option = ""]) =>
    option === "--help" ? [] : [option],
  );

/** The words after "Parts:", or those of the list of parts that a tool prints. */
const partsOf = (help: string) => {
  const [, names, list = ""] = /^Parts: ((?:.+\n)+)|^Parts.*:\n((?: {2}.*\n?)*)/m.exec(help) ?? [];
  return names?.trim().split(/,\s+/) ?? [...list.matchAll(/^ {2}(?:scripts\/\S+ )?(\S+)/gm)].map(([, name]) => name);
};

describe("a command of scripts/ in a checkout where nothing is set up", () => {
  const temporary = temporaryDirectory();
  const checkout = join(temporary.path, "checkout");
  const programs = join(temporary.path, "programs");
  afterAll(() => temporary[Symbol.dispose]());
  beforeAll(() => {
    for (const folder of ["scripts", "tools/shared"]) {
      cpSync(join(root, folder), join(checkout, folder), { recursive: true });
    }
    // Without node, npm, python3, git, bun and the like, whatever goes beyond the help fails.
    mkdirSync(programs);
    for (const name of ["bash", "dirname", "readlink"]) symlinkSync(Bun.which(name) ?? "", join(programs, name));
  });

  const run = (name: string, ...args: readonly string[]) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync([join(checkout, "scripts", name), ...args], {
      cwd: temporary.path,
      env: { PATH: programs },
      stdin: "ignore",
    });
    return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
  };
  const files = () => readdirSync(temporary.path, { recursive: true }).sort();

  test.each(scripts)("prints its purpose, its options and an example: scripts/%s --help", (name) => {
    const before = files();
    const { exitCode, stdout, stderr } = run(name, "--help");
    expect([exitCode, stderr]).toEqual([0, ""]);
    const [usage = "", blank, purpose = ""] = stdout.split("\n");
    expect(usage).toMatch(new RegExp(`^scripts/${name} (?:COMMAND )?\\[OPTION…\\]`));
    expect([blank, purpose]).toEqual(["", expect.stringMatching(/^[A-Z][a-z]+s\b/)]);
    expect(stdout).toMatch(new RegExp(`^  ${HELP} +print `, "m"));
    expect(stdout).toMatch(new RegExp(`\n\nExample: .*scripts/${name}\\b`));
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(120);
    for (const args of [["-h"], ["something", "--help"], ["--bogus", "-h"]]) {
      expect([args, run(name, ...args)]).toEqual([args, { exitCode, stdout, stderr }]);
    }
    expect(files()).toEqual(before);
  });

  test.each(scripts.filter((name) => name !== "transcribe"))("refuses an unknown option: scripts/%s", (name) => {
    const before = files();
    const advice = `; scripts/${name} --help lists the options\n`;
    const unknown = ["--no-such-option", "--no-such-option=1", "-z", "--he", "--help=1", "---", "--=", "--$(id)"];
    for (const option of unknown) {
      const { exitCode, stdout, stderr } = run(name, option);
      expect([option, exitCode, stdout]).toEqual([option, 2, ""]);
      expect([stderr.startsWith(`${name}: `), stderr.endsWith(advice), stderr.split("\n").length]).toEqual([
        true,
        true,
        2,
      ]);
    }
    expect(run(name, "--no-such-option").stderr).toBe(`${name}: unknown option --no-such-option${advice}`);
    expect(files()).toEqual(before);
  });

  test("refuses an argument that it does not take, a missing value and a needless one", () => {
    for (const [name, args, message] of [
      ["docs", ["cli.md"], "unexpected argument cli.md"],
      ["setup", ["all"], "unexpected argument all"],
      ["setup", ["--all", "--hooks=no"], "--hooks takes no value"],
      ["setup", ["--", "--all"], "unexpected argument --"],
      ["build", ["--target"], "--target needs a value"],
      ["package", ["--target", "linux-x64", "extra"], "unexpected argument extra"],
      ["build", ["--cuda", "--target", "linux-x64", "--tarmac"], "unknown option --tarmac"],
      ["test", ["test/http", "-t"], "-t needs a value: -t=VALUE"],
      ["start", ["fleet", "--port", "1"], "fleet takes one recording"],
    ] as const) {
      const { exitCode, stderr } = run(name, ...args);
      expect([exitCode, stderr]).toEqual([2, `${name}: ${message}; scripts/${name} --help lists the options\n`]);
    }
  });

  test("asks for a setup where only the program knows the options", () => {
    for (const [name, ...args] of [
      ["transcribe", "serve", "--bogus"],
      ["bench", "rows", "--runs", "1"],
      ["evaluate", "voices", "--json", "x"],
      ["conformance", "--seed", "1", "--", "--workers", "2"],
    ] as const) {
      const { exitCode, stderr } = run(name, ...args);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining("is not set up: run ")]);
    }
  });
});

describe("the help of a command of scripts/", () => {
  const helpOf = (name: string) => Bun.spawnSync([join(root, "scripts", name), "--help"]).stdout.toString();
  const printed = (...command: readonly string[]) => {
    return Bun.spawnSync([process.execPath, "--no-env-file", ...command, "--help"], { cwd: root }).stdout.toString();
  };

  const tools: Readonly<Record<string, string>> = {
    bench: "tools/bench/index.ts",
    "check-patches": "tools/development/check-patches.ts",
    endurance: "tools/endurance/index.ts",
    evaluate: "tools/evaluate/index.ts",
    fuzz: "tools/fuzz/index.ts",
    release: "tools/release/index.ts",
    sdk: "tools/development/sdk/index.ts",
  };
  test.each(Object.entries(tools))(
    "lists the options and the parts that its tool declares: scripts/%s",
    (name, tool) => {
      const [help, declared] = [helpOf(name), printed(tool)];
      expect(declared).toContain(HELP);
      expect([optionsOf(help), partsOf(help)]).toEqual([optionsOf(declared), partsOf(declared)]);
    },
  );

  const builders = ["build", "build-container", "package"];
  test.each(builders)("lists the options that its tool declares: scripts/%s", (name) => {
    const declared = Object.entries(targetOptions).map(([key, { placeholder }]) =>
      [nameOnCommandLine(key), ...(placeholder === null ? [] : [placeholder])].join(" "),
    );
    expect(optionsOf(helpOf(name))).toEqual(declared);
  });

  const passedOn: Readonly<Record<string, string>> = { dev: "serve", start: "quickstart" };
  test.each(Object.entries(passedOn))(
    "lists the options of the command that gets them: scripts/%s",
    (name, command) => {
      const known = [...printed("src/main.ts", command).matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option]) => option);
      expect(known).toContain("--port");
      expect(optionsOf(helpOf(name)).map((option) => option.split(" ")[0])).toEqual(known);
    },
  );

  test("is checked against another source of options, except where it is the only one", () => {
    const alone = ["conformance", "docs", "setup", "test", "test-service", "transcribe"];
    expect([...Object.keys(tools), ...builders, ...Object.keys(passedOn), ...alone].sort()).toEqual(scripts.sort());
  });
});
