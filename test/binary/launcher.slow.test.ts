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
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { buildTimeout, builtProgram, run } from "../../harness/compiled-program.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { EmbeddedPart } from "../../src/program/contents.ts";
import { digestFile, programVersion } from "../../src/program/index.ts";
import { innerDirectoryName, innerProgramOf } from "../../src/program/inner-program.ts";
import { readElf } from "../native/elf.ts";

const sample = samplePath("jfk.mp3");
const ready = available("the launcher of the program in one file", sample);
const isRoot = process.geteuid?.() === 0;
const canMount = Bun.spawnSync(["unshare", "--mount", "true"]).exitCode === 0;
if (!canMount) console.warn("SKIPPED: the launcher on other file systems; mounting needs privileges");

describe.if(ready)("the launcher", () => {
  const scope = temporaryDirectory();
  const home = join(scope.path, "home");
  const runtime = join(home, ".cache/transcribe/runtime");
  let program = "";
  let inner: EmbeddedPart;
  let name = "";
  let unpacked = "";
  const transcribe = (
    args: readonly string[],
    env: Readonly<Record<string, string>> = { HOME: home },
    file = program,
  ) => run([file, ...args], { cwd: scope.path, env });
  const entries = () => readdirSync(runtime).filter((entry) => entry !== "program.lock");
  const expectVersion = async (env?: Readonly<Record<string, string>>, file?: string) =>
    expect(await transcribe(["version"], env, file)).toEqual({
      ...{ exitCode: 0, stderr: "" },
      stdout: expect.stringMatching(new RegExp(`^transcribe ${RegExp.escape(programVersion)} .*\n$`)),
    });

  beforeAll(async () => {
    program = await builtProgram();
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
    await expectVersion();
    expect(await digestFile(unpacked, "sha256")).toBe(inner.sha256);
    const modes = [runtime, join(runtime, name), unpacked].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o555]);
    const before = statSync(unpacked);
    await expectVersion();
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
    await expectVersion({ HOME: home, TRANSCRIBE_STORAGE_RUNTIME_DIR: chosen });
    expect([existsSync(join(chosen, name, "transcribe")), existsSync(runtime)]).toEqual([true, false]);
  });

  test("started five times at once unpacks one complete program", async () => {
    await Promise.all(Array.from({ length: 5 }, () => expectVersion()));
    expect(entries()).toEqual([name]);
    expect(await digestFile(unpacked, "sha256")).toBe(inner.sha256);
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
      await expectVersion();
      await expectVersion();
    },
  );

  test("starts from memory without any directory, and its children, too", async () => {
    const data = join(scope.path, "data-memory");
    const { exitCode, stdout, stderr } = await transcribe(
      ["quickstart", "--port", "0", "--data-dir", data, sample],
      {},
    );
    const server = Number(/stop it: kill (\d+)/.exec(stderr)?.[1]);
    const executable = readlinkSync(`/proc/${server}/exe`);
    process.kill(server, "SIGTERM");
    expect({ exitCode, executable }).toEqual({ exitCode: 0, executable: "/memfd:transcribe (deleted)" });
    expect(stdout).toContain("what your country can do for you");
    while (existsSync(`/proc/${server}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${server}/status`, "utf8")))
      await Bun.sleep(50);
  }, 120_000);

  const mounts: [string, string][] = [
    ["read-only", 'mount -t tmpfs none "$1"; mount -o remount,ro "$1"'],
    ["mounted noexec", 'mount -t tmpfs -o noexec none "$1"'],
    ["full", 'mount -t tmpfs -o size=8m none "$1"'],
  ];
  test.skipIf(!canMount).each(mounts)(
    "starts from memory if the home directory is %s, and leaves no part of a program",
    async (_, mount) => {
      const script = `${mount}; "$2" version && find "$1" -name 'transcribe' -type f`;
      const command = ["unshare", "--mount", "sh", "-euc", script, "sh", home, program];
      const { exitCode, stdout, stderr } = await run(command, {
        cwd: "/",
        env: { HOME: home, PATH: process.env.PATH ?? "" },
      });
      expect({ exitCode, stdout, stderr }).toEqual({
        exitCode: 0,
        stderr: "",
        stdout: expect.stringMatching(/^transcribe [^\n]+\n$/),
      });
    },
  );

  test("leaves nothing that stays when it is killed while it unpacks", async () => {
    for (;;) {
      const child = Bun.spawn([program, "version"], { env: { HOME: home }, stdout: "ignore", stderr: "ignore" });
      while (child.exitCode === null && !existsSync(join(runtime, `${name}.new`))) await Bun.sleep(1);
      child.kill("SIGKILL");
      await child.exited;
      // A fast process may have completed before the signal.
      if (!existsSync(unpacked)) break;
      rmSync(runtime, { recursive: true });
    }
    expect(entries()).toEqual([`${name}.new`]);
    await expectVersion();
    expect(entries()).toEqual([name]);
  });

  test("removes the inner programs of other versions, and keeps unpacked parts and other files", async () => {
    const [older, killed, parts] = ["0".repeat(32), `${"1".repeat(32)}.new`, "2".repeat(32)];
    for (const directory of [older, killed, `${parts}/native`, "notes"]) {
      mkdirSync(join(runtime, directory), { recursive: true, mode: 0o700 });
      writeFileSync(join(runtime, directory, "transcribe"), "");
    }
    await expectVersion();
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
    ["cut off behind the launcher", (path) => truncateSync(path, 1_000_000)],
    ["changed in the inner program", (path) => overwrite(path, inner.offset + inner.packedBytes - 100_000)],
  ])("reports a file that is %s", async (_, change) => {
    const { exitCode, stdout, stderr } = await transcribe(["version"], { HOME: home }, damaged(change));
    expect({ exitCode, stdout, stderr }).toEqual({
      ...{ exitCode: 1, stdout: "" },
      stderr: "transcribe: this program's file is damaged: copy it again and compare it with SHA256SUMS\n",
    });
    expect(existsSync(runtime) ? entries() : []).toEqual([]);
  });

  test("passes on the path of the file, whatever the caller's environment says", async () => {
    const tree = join(scope.path, "tree");
    mkdirSync(tree);
    const env = { HOME: home, _TRANSCRIBE_FILE: "/bin/true" };
    const steps = await transcribe(["service", "install", "--root", tree, "--dry-run"], env);
    expect(steps).toMatchObject({ exitCode: 0, stderr: "" });
    const data = join(scope.path, "data-started");
    expect(await transcribe(["doctor", "--json", "--data-dir", data], env)).toMatchObject({
      exitCode: expect.any(Number),
    });
    const direct = await transcribe(["serve", "--port", "0", "--data-dir", data], { HOME: home }, unpacked);
    expect([direct.exitCode, direct.stderr]).toEqual([1, expect.stringContaining("start the file that unpacked it")]);
  }, 120_000);

  test.skipIf(!isRoot)(
    "is installed with the copy that all users start, and a removal removes it",
    async () => {
      const tree = join(scope.path, "machine");
      for (const path of ["etc/systemd/system", "usr/local", "var/lib"])
        mkdirSync(join(tree, path), { recursive: true });
      for (const name of ["passwd", "group", "shadow"]) copyFileSync(`/etc/${name}`, join(tree, "etc", name));
      const service = (...args: string[]) =>
        transcribe(["service", ...args, "--root", tree], process.env as Record<string, string>);
      expect(await service("install", "--no-start")).toMatchObject({ exitCode: 0, stderr: "" });
      const installed = join(tree, "usr/local/lib/transcribe");
      const copy = join(installed, name, "transcribe");
      expect([statSync(copy).mode & 0o777, await digestFile(copy, "sha256")]).toEqual([0o755, inner.sha256]);
      // Another user uses the copy of root, whose home directory is not accessible.
      const asNobody = [
        "setpriv",
        "--reuid=65534",
        "--clear-groups",
        "env",
        "-i",
        `TRANSCRIBE_STORAGE_RUNTIME_DIR=${installed}`,
      ];
      chmodSync(scope.path, 0o711);
      const command = [...asNobody, join(tree, "usr/local/bin/transcribe"), "licenses", "--json"];
      expect(await run(command, { cwd: "/", env: { PATH: process.env.PATH ?? "" } })).toMatchObject({
        exitCode: 0,
        stderr: "",
      });
      expect(await service("uninstall")).toMatchObject({ exitCode: 0, stderr: "" });
      expect(existsSync(installed)).toBe(false);
    },
    60_000,
  );

  test("is checked by doctor, which replaces an inner program whose bytes changed", async () => {
    await expectVersion();
    chmodSync(unpacked, 0o700);
    // The end of the file is the table of sections, which nobody reads at run time.
    overwrite(unpacked, inner.bytes - 1);
    const data = join(scope.path, "data-doctor");
    const doctor = async (...args: string[]) => {
      const { stdout } = await transcribe(["doctor", "--json", "--data-dir", data, ...args], { HOME: home });
      const { checks } = JSON.parse(stdout) as { checks: { id: string; status: string; detail?: string[] }[] };
      return checks.find(({ id }) => id === "program.files");
    };
    const server = Bun.spawn([program, "serve", "--port", "0", "--data-dir", data], {
      ...{ env: { HOME: home }, stdin: "ignore", stdout: "pipe", stderr: "ignore" },
    });
    for await (const _ of server.stdout) break;
    server.kill("SIGTERM");
    await server.exited;
    expect(await doctor()).toMatchObject({ status: "problem", detail: [`${unpacked}: changed`] });
    await doctor("--fix");
    expect(await digestFile(unpacked, "sha256")).toBe(inner.sha256);
    expect(await doctor()).toMatchObject({ status: "ok" });
  }, 180_000);
});
