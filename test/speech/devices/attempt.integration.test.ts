import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../../src/speech/devices/attempt.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** Leaves another process that keeps its output open, so that there is no end to wait for, as of one stuck in a driver. */
const unending = ["sh", "-c", 'sleep 20 & echo $! > "$0"; exec sleep 20'];
const endingMilliseconds = 100;

function endRest(pidFile: string): void {
  process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
}

test("what can't be ended is not waited for, and may go better another time", async () => {
  using directory = temporaryDirectory();
  const pidFile = join(directory.path, "pid");
  const outcome = await attempt([...unending, pidFile], { timeoutMilliseconds: 2000, endingMilliseconds });
  endRest(pidFile);
  expect(outcome).toEqual({
    ok: false,
    reason: "it was not done in 2 s, and can't be ended",
    lasting: false,
    late: true,
  });
});

test("who gives up what can't be ended is told so", async () => {
  using directory = temporaryDirectory();
  const pidFile = join(directory.path, "pid");
  const signal = AbortSignal.timeout(2000);
  const attempting = attempt([...unending, pidFile], { timeoutMilliseconds: 60_000, signal, endingMilliseconds });
  await expect(attempting).rejects.toThrow("timed out");
  endRest(pidFile);
});

test.each([
  ["prints an answer", "echo 1", { ok: true, output: "1\n" }],
  ["crashes", "kill -SEGV $$", { ok: false, reason: "it crashed with SIGSEGV", lasting: true, late: false }],
  [
    "is killed",
    "kill -KILL $$",
    { ok: false, reason: "it was ended by SIGKILL: short of memory", lasting: false, late: false },
  ],
  ["fails", "echo why >&2; exit 1", { ok: false, reason: "why", lasting: false, late: false }],
] as const)("the end of what %s is told", async (_, script, outcome) => {
  expect(await attempt(["sh", "-c", script], { timeoutMilliseconds: 60_000 })).toEqual(outcome);
});

test("what takes too long is ended", async () => {
  const reason = "it was not done in 0.1 s";
  expect(await attempt(["sleep", "20"], { timeoutMilliseconds: 100 })).toEqual({
    ok: false,
    reason,
    lasting: false,
    late: true,
  });
});
