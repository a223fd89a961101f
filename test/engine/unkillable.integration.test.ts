import { afterEach, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { join } from "node:path";
import { isAlive } from "../../harness/processes.ts";
import type { UnexpectedExit } from "../../src/engine/index.ts";
import { TimeLimits } from "../../src/engine/time-limits.ts";
import { pidOf, run, scriptedEngine } from "../support/scripted-engine.ts";

setDefaultTimeout(60_000);

/** Processes that survived a signal. */
const left = new Set<number>();
/** Makes signals to child processes have no effect, as when they hang in a driver. */
const prototype = Object.getPrototypeOf(Bun.spawn(["true"]));
const kill = spyOn(prototype, "kill");
afterEach(() => {
  kill.mockRestore();
  // An abandoned worker exits by itself, unless it is stopped.
  for (const pid of left) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  left.clear();
});

test("a worker that no signal ends is abandoned: another one completes its operation, and the engine can be closed", async () => {
  const exits: UnexpectedExit[] = [];
  const made = scriptedEngine({
    timeLimits: new TimeLimits({ minSeconds: 2, startSeconds: 20 }),
    checkMilliseconds: 20,
    killMilliseconds: 50,
    onUnexpectedExit: (death) => exits.push(death),
  });
  const pid = () => pidOf(made) ?? 0;
  // The first operation of a kind has a longer limit.
  await run(made, "answer");
  const stuck = pid();
  left.add(stuck);
  process.kill(stuck, "SIGSTOP");
  kill.mockImplementation(() => {});
  expect(await run(made, "answer")).toEqual({ chunks: [] });
  expect(exits).toMatchObject([{ signal: "SIGKILL", stalled: true, abandoned: true }]);
  expect(isAlive(stuck)).toBe(true);
  expect(made.status()).toMatchObject({ state: "ready", restarts: 1 });
  left.add(pid());
  await made.close();
});

test("an abandoned worker does not keep the program from exiting", async () => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "program-with-abandoned-worker.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 30_000,
  });
  const pid = Number(await new Response(child.stdout).text());
  expect(await child.exited).toBe(0);
  expect(pid).toBeGreaterThan(0);
});
