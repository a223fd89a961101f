import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { runProcess, runSelfTest } from "../../src/devices/run-self-test.ts";

setDefaultTimeout(60_000);

/** Leaves a grandchild that keeps the output open, so that the end never comes, as with a process stuck in a driver. */
const unkillable = ["sh", "-c", 'sleep 20 & echo $! > "$0"; exec sleep 20'];
const exitMilliseconds = 100;

function killGrandchild(pidFile: string): void {
  process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
}

test("a process that cannot be killed is left behind, and its failure is not lasting", async () => {
  using directory = temporaryDirectory();
  const pidFile = join(directory.path, "pid");
  const result = await runProcess([...unkillable, pidFile], { timeoutMilliseconds: 2000, exitMilliseconds });
  killGrandchild(pidFile);
  expect(result).toEqual({
    ok: false,
    reason: "it did not finish within 2 s and cannot be killed",
    lasting: false,
    late: true,
  });
});

test("aborting a process that cannot be killed throws the signal's reason", async () => {
  using directory = temporaryDirectory();
  const pidFile = join(directory.path, "pid");
  const controller = new AbortController();
  const { signal } = controller;
  const running = runProcess([...unkillable, pidFile], { timeoutMilliseconds: 60_000, signal, exitMilliseconds });
  while (!existsSync(pidFile) || readFileSync(pidFile, "utf8") === "") await Bun.sleep(10);
  controller.abort(new Error("stopped"));
  await expect(running).rejects.toThrow("stopped");
  killGrandchild(pidFile);
});

test.each([
  ["prints", "echo 1", { ok: true, answer: "1\n" }],
  ["crashes", "kill -SEGV $$", { ok: false, reason: "it crashed with SIGSEGV", lasting: true, late: false }],
  [
    "is killed",
    "kill -KILL $$",
    { ok: false, reason: "it was killed by SIGKILL, probably because memory was short", lasting: false, late: false },
  ],
  ["fails with a message", "echo why >&2; exit 1", { ok: false, reason: "why", lasting: false, late: false }],
  ["fails in silence", "exit 3", { ok: false, reason: "it exited with code 3", lasting: false, late: false }],
] as const)("a process that %s has the expected result", async (_, script, result) => {
  expect(await runProcess(["sh", "-c", script], { timeoutMilliseconds: 60_000 })).toEqual(result);
});

test("a process that exceeds its time limit is killed", async () => {
  const reason = "it did not finish within 0.1 s";
  expect(await runProcess(["sleep", "20"], { timeoutMilliseconds: 100 })).toEqual({
    ok: false,
    reason,
    lasting: false,
    late: true,
  });
});

test.each(["7", "", '{"score":-1}', '{"seconds":1}'])("the answer %p of a self-test is a failure", async (answer) => {
  const command = ["sh", "-c", `printf '%s' '${answer}'`];
  const params = { nativeDirectory: "/native", cpuLibrary: "libggml-cpu-x64.so" };
  const result = await runSelfTest("rateCpuLibrary", { ...params, command });
  expect(result).toMatchObject({ ok: false, reason: "its answer is not the expected JSON", lasting: false });
});

test.each([
  ["is missing", []],
  ["is no JSON", ["rateCpuLibrary"]],
  ["names no self-test", [JSON.stringify({ name: "toString", params: {} })]],
  ["lacks a parameter", [JSON.stringify({ name: "rateCpuLibrary", params: { nativeDirectory: "/native" } })]],
])("a self-test process whose request %s fails with a message", async (_, args) => {
  const main = join(import.meta.dir, "../../src/main.ts");
  const result = await runProcess([process.execPath, main, "__selftest", ...args], { timeoutMilliseconds: 60_000 });
  expect(result).toMatchObject({ ok: false, reason: expect.stringMatching(/./), lasting: false });
});
