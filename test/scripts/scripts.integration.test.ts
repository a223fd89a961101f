import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "../..");

/** A checkout that contains only the commands and the shell code that they share. */
let checkout: string;

beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), "transcribe-checkout-"));
  for (const folder of ["scripts", "tools/shared"]) {
    await cp(join(root, folder), join(checkout, folder), { recursive: true });
  }
});

afterEach(() => rm(checkout, { recursive: true }));

async function run(script: string, args: string[] = [], environment: Record<string, string> = {}) {
  return await runProgram([join(checkout, "scripts", script), ...args], environment);
}

async function runProgram(command: string[], environment: Record<string, string> = {}) {
  const child = Bun.spawn(command, {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { output, errors, status: child.exitCode };
}

/** Replaces a program of the checkout by a shell script. */
async function fake(path: string, script: string): Promise<void> {
  const file = join(checkout, path);
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
}

describe("scripts/setup", () => {
  test("lists every missing program and how to install it, before it changes anything", async () => {
    const programs = join(checkout, "programs");
    await mkdir(programs);
    for (const name of ["bash", "dirname", "readlink", "node", "python3", "g++"]) {
      await symlink(Bun.which(name) ?? "/bin/true", join(programs, name));
    }
    const { errors, status } = await run("setup", [], { PATH: programs, HOME: checkout });
    expect(status).toBe(1);
    expect(errors).toContain("not installed: npm cmake\n");
    expect(errors).toContain("apt install nodejs npm python3 python3-pip cmake g++");
    expect(await readdir(checkout)).not.toContain("build");
  });

  test("asks for a cache folder when HOME is not set", async () => {
    const { errors, status } = await run("setup");
    expect(status).toBe(1);
    expect(errors).toContain("set TRANSCRIBE_CACHE");
  });
});

describe("tools/shared/fetch-bun", () => {
  test("refuses a kind of machine without a Bun, before it creates anything", async () => {
    const cache = join(checkout, "cache");
    const { output, errors, status } = await runProgram([
      join(checkout, "tools/shared/fetch-bun"),
      "Linux-riscv64",
      cache,
    ]);
    expect([output, errors, status]).toEqual([
      "",
      "fetch-bun: Linux on riscv64 is not supported; Linux on x86_64 and aarch64 is\n",
      1,
    ]);
    expect(await readdir(checkout)).not.toContain("cache");
  });
});

describe("scripts/transcribe", () => {
  test("names the command that sets up the checkout", async () => {
    const { errors, status } = await run("transcribe", ["version"]);
    expect(status).toBe(1);
    expect(errors).toContain(`run ${checkout}/scripts/setup`);
  });

  test.each<[string, string[], Record<string, string>, string]>([
    ["in the checkout", ["serve"], {}, "CHECKOUT/data"],
    ["in the directory of the environment", ["serve"], { TRANSCRIBE_DATA_DIR: "/elsewhere" }, "/elsewhere"],
    ["in the directory of the environment's settings file", ["serve"], { TRANSCRIBE_CONFIG: "/etc/t.toml" }, ""],
    ["in the directory of a settings file", ["serve", "--config=/etc/t.toml"], {}, ""],
  ])("stores the data %s", async (_, args, environment, expected) => {
    await fake("build/bun/bun", 'echo "$TRANSCRIBE_DATA_DIR"; shift 2; echo "$@"');
    const { output } = await run("transcribe", args, environment);
    expect(output).toBe(`${expected.replace("CHECKOUT", checkout)}\n${args.join(" ")}\n`);
  });
});

describe("scripts/start", () => {
  test.each([
    [[], "quickstart"],
    [["sample"], "quickstart CHECKOUT/build/samples/sample.wav"],
    [["my talk.mp3"], "quickstart my talk.mp3"],
  ])("sets up the checkout, then passes %p to the program", async (args, expected) => {
    await fake("scripts/setup", "echo set up");
    await fake("build/bun/bun", 'shift 2; echo "$@"');
    const { output } = await run("start", args);
    expect(output).toBe(`set up\n${expected.replace("CHECKOUT", checkout)}\n`);
  });

  test("sets up the checkout, then shows a fleet with the given recording", async () => {
    await fake("scripts/setup", "echo set up");
    await fake("build/bun/bun", 'echo "$@"');
    const { output } = await run("start", ["fleet", "my talk.mp3"]);
    expect(output).toBe(`set up\n--no-env-file ${checkout}/tools/development/start-fleet.ts my talk.mp3\n`);
  });

  test("stops when setup fails", async () => {
    await fake("scripts/setup", "exit 7");
    await fake("build/bun/bun", "echo started");
    const { output, status } = await run("start");
    expect([output, status]).toEqual(["", 7]);
  });
});

describe("scripts/test", () => {
  test("prints a count and fails when setup fails", async () => {
    await fake("scripts/setup", "exit 7");
    const { output, status } = await run("test");
    expect([output, status]).toEqual(["0 passed, 1 failed\n", 1]);
  });
});
