import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { available } from "../../harness/checkout.ts";
import { buildTimeout } from "../../harness/compiled-program.ts";
import { run } from "../../harness/processes.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { buildLauncher } from "../../native/build-launcher.ts";
import type { EmbeddedPart } from "../../src/program/contents.ts";
import { digestFile, programFiles } from "../../src/program/index.ts";
import { innerDirectoryName, innerProgramOf } from "../../src/program/inner-program.ts";
import { fileStart, writeProgramFile } from "../../tools/build/program-file.ts";
import { readElf } from "../support/elf.ts";

// The product's file takes a second to unpack. A small static program in its place takes milliseconds.
const { confine } = await programFiles("");
const ready = available("the launcher", confine);
const isRoot = process.geteuid?.() === 0;
const canMount = Bun.spawnSync(["unshare", "--mount", "true"]).exitCode === 0;
if (!canMount) console.warn("SKIPPED: the launcher on other file systems; mounting needs privileges");

describe.if(ready)("the launcher", () => {
  const scope = temporaryDirectory();
  const home = join(scope.path, "home");
  const runtime = join(home, ".cache/transcribe/runtime");
  const program = join(scope.path, "program");
  let report = "";
  let inner: EmbeddedPart;
  let name = "";
  let unpacked = "";
  const start = (env: Readonly<Record<string, string>> = { HOME: home }, file = program) =>
    run([file, "--report"], { cwd: scope.path, env });
  const entries = () => readdirSync(runtime).filter((entry) => entry !== "program.lock");
  const expectStart = async (env?: Readonly<Record<string, string>>, file?: string) =>
    expect(await start(env, file)).toEqual({ exitCode: 0, stderr: "", stdout: report });

  beforeAll(async () => {
    const launcher = await buildLauncher({ cacheRoot: defaultCacheRoot(), log: () => {} });
    const description = join(scope.path, "description");
    writeFileSync(description, "");
    await writeProgramFile(program, fileStart(launcher, description, []), confine);
    report = (await run([confine, "--report"], { cwd: scope.path, env: {} })).stdout;
    expect(report).toStartWith("{");
    const file = openSync(program, "r");
    const found = innerProgramOf(file);
    closeSync(file);
    if (found === null) throw new Error("the program has no trailer");
    inner = found;
    name = innerDirectoryName(inner);
    unpacked = join(runtime, name, "transcribe");
  }, buildTimeout);
  beforeEach(() => {
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home);
  });
  afterAll(() => scope[Symbol.dispose]());

  test("unpacks the inner program at the first start, for its user only, and uses it from then on", async () => {
    await expectStart();
    expect(await digestFile(unpacked, "sha256")).toBe(inner.sha256);
    const modes = [runtime, join(runtime, name), unpacked].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o555]);
    const before = statSync(unpacked);
    await expectStart();
    expect([statSync(unpacked).ino, statSync(unpacked).mtimeMs]).toEqual([before.ino, before.mtimeMs]);
  });

  test("is hardened: it loads at a random address, with read-only tables and no executable stack", () => {
    expect(readElf(readFileSync(program))).toMatchObject({
      ...{ type: "shared", isRelocationReadOnly: true, bindsNow: true, isStackExecutable: false },
      ...{ hasTextRelocations: false, writableAndExecutable: 0, imports: [] },
    });
  });

  test("uses the runtime directory of the environment first", async () => {
    const chosen = join(scope.path, "chosen");
    await expectStart({ HOME: home, TRANSCRIBE_STORAGE_RUNTIME_DIR: chosen });
    expect([existsSync(join(chosen, name, "transcribe")), existsSync(runtime)]).toEqual([true, false]);
  });

  /** Puts a program of the right size in the place of the unpacked one. */
  const place = (path = unpacked) => {
    mkdirSync(join(runtime, name), { recursive: true, mode: 0o700 });
    writeFileSync(path, "#!/bin/sh\necho EVIL\nexit 9\n", { mode: 0o700 });
    truncateSync(path, inner.bytes);
  };
  const foreign: [string, boolean, () => void][] = [
    ["of another size", true, () => truncateSync(unpacked, 100)],
    ["that all users can change", true, () => chmodSync(unpacked, 0o777)],
    ["in a directory that all users can change", true, () => chmodSync(join(runtime, name), 0o777)],
    ["in a runtime directory that the group can change", true, () => chmodSync(runtime, 0o770)],
    ["of another user", isRoot, () => chownSync(unpacked, 54_321, 54_321)],
    ["in a directory of another user", isRoot, () => chownSync(join(runtime, name), 54_321, 54_321)],
    [
      "behind a link",
      true,
      () => {
        place(join(home, "evil"));
        rmSync(unpacked);
        symlinkSync(join(home, "evil"), unpacked);
      },
    ],
  ];
  test.each(foreign.filter(([, isPossible]) => isPossible))(
    "never executes a program %s",
    async (_, _possible, change) => {
      place();
      change();
      await expectStart();
      await expectStart();
    },
  );

  const mounts: [string, string][] = [
    ["read-only", 'mount -t tmpfs none "$1"; mount -o remount,ro "$1"'],
    ["mounted noexec", 'mount -t tmpfs -o noexec none "$1"'],
    ["full", 'mount -t tmpfs -o size=400k none "$1"'],
  ];
  test.skipIf(!canMount).each(mounts)(
    "starts from memory if the home directory is %s, and leaves no part of a program",
    async (_, mount) => {
      const script = `${mount}; "$2" --report && find "$1" -name 'transcribe' -type f`;
      const command = ["unshare", "--mount", "sh", "-euc", script, "sh", home, program];
      const { exitCode, stdout, stderr } = await run(command, {
        cwd: "/",
        env: { HOME: home, PATH: process.env.PATH ?? "" },
      });
      expect({ exitCode, stdout, stderr }).toEqual({
        exitCode: 0,
        stderr: "",
        stdout: report,
      });
    },
  );

  test("removes the inner programs of other versions, and keeps unpacked parts and other files", async () => {
    const [older, killed, parts] = ["0".repeat(32), `${"1".repeat(32)}.new`, "2".repeat(32)];
    for (const directory of [older, killed, `${parts}/native`, "notes"]) {
      mkdirSync(join(runtime, directory), { recursive: true, mode: 0o700 });
      writeFileSync(join(runtime, directory, "transcribe"), "");
    }
    await expectStart();
    expect(entries().sort()).toEqual([name, parts, "notes"].sort());
    expect(existsSync(join(runtime, parts, "native/transcribe"))).toBe(true);
  });

  /** Returns a copy of the program with a change. */
  const damaged = (change: (path: string) => void) => {
    const path = join(scope.path, "damaged");
    copyFileSync(program, path);
    change(path);
    return path;
  };
  const overwrite = (path: string, position: number) => {
    const file = openSync(path, "r+");
    writeSync(file, "x", position);
    closeSync(file);
  };
  test.each<[string, (path: string) => void]>([
    ["cut off at its end", (path) => truncateSync(path, statSync(path).size - 1)],
    ["cut off in its middle", (path) => truncateSync(path, inner.offset + 1000)],
    ["cut off behind the launcher", (path) => truncateSync(path, inner.offset)],
    ["changed in the inner program", (path) => overwrite(path, inner.offset + Math.floor(inner.packedBytes / 2))],
  ])("reports a file that is %s", async (_, change) => {
    const { exitCode, stdout, stderr } = await start({ HOME: home }, damaged(change));
    expect({ exitCode, stdout, stderr }).toEqual({
      ...{ exitCode: 1, stdout: "" },
      stderr: "transcribe: this program's file is damaged: copy it again and compare it with SHA256SUMS\n",
    });
    expect(existsSync(runtime) ? entries() : []).toEqual([]);
  });
});
