import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { buildTimeout, builtProgram } from "../../harness/compiled-program.ts";
import { childrenOf, run } from "../../harness/processes.ts";
import { killedWithParent, logLines } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { EmbeddedPart } from "../../src/program/contents.ts";
import { digestFile, programVersion } from "../../src/program/index.ts";
import { innerDirectoryName, innerProgramOf } from "../../src/program/inner-program.ts";

const sample = samplePath("jfk.mp3");
const ready = available("the launcher of the program in one file", sample);
const isRoot = process.geteuid?.() === 0;

describe.if(ready)("the launcher of the complete program", () => {
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

  test("started five times at once unpacks one complete program", async () => {
    await Promise.all(Array.from({ length: 5 }, () => expectVersion()));
    expect(entries()).toEqual([name]);
    expect(await digestFile(unpacked, "sha256")).toBe(inner.sha256);
  });

  test("starts from memory without any directory, and its children, too", async () => {
    const data = join(scope.path, "data-memory");
    const command = killedWithParent([program, "serve", "--port", "0", "--data-dir", data]);
    const server = Bun.spawn(command, { env: {}, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
    try {
      for await (const { event } of logLines(server.stderr)) if (event === "engine.ready") break;
      const executables = [server.pid, ...childrenOf(server.pid, "__worker")].map((pid) =>
        readlinkSync(`/proc/${pid}/exe`),
      );
      expect(executables.length).toBeGreaterThan(1);
      expect(new Set(executables)).toEqual(new Set(["/memfd:transcribe (deleted)"]));
    } finally {
      server.kill("SIGTERM");
      expect(await server.exited).toBe(0);
    }
  }, 120_000);

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

  test("passes on the path of the file, whatever the caller's environment says", async () => {
    const tree = join(scope.path, "tree");
    mkdirSync(tree);
    const env = { HOME: home, _TRANSCRIBE_FILE: "/bin/true" };
    const steps = await transcribe(["service", "install", "--root", tree, "--dry-run"], env);
    expect(steps).toMatchObject({ exitCode: 0, stderr: "" });
    const data = join(scope.path, "data-started");
    // Unpacks its parts from the file.
    const listed = await transcribe(["models", "list", "--json", "--data-dir", data], env);
    expect(listed).toMatchObject({ exitCode: 0, stderr: "" });
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
    const file = openSync(unpacked, "r+");
    writeSync(file, "x", inner.bytes - 1);
    closeSync(file);
    const data = join(scope.path, "data-doctor");
    const server = Bun.spawn([program, "serve", "--port", "0", "--data-dir", data], {
      ...{ env: { HOME: home }, stdin: "ignore", stdout: "pipe", stderr: "ignore" },
    });
    for await (const _ of server.stdout) break;
    server.kill("SIGTERM");
    await server.exited;
    const doctor = async (...args: string[]) => {
      const { stdout } = await transcribe(["doctor", "--json", "--data-dir", data, ...args]);
      const { checks } = JSON.parse(stdout) as { checks: { id: string }[] };
      return checks.find(({ id }) => id === "program.files");
    };
    expect(await doctor()).toMatchObject({ status: "problem", detail: [`${unpacked}: changed`] });
    // The process that repairs still runs the changed program.
    expect(await doctor("--fix")).toMatchObject({ mended: { failure: null } });
    expect(await digestFile(unpacked, "sha256")).toBe(inner.sha256);
  }, 180_000);
});
