import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import pino from "pino";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { EngineOptions, UnexpectedExit } from "../../src/engine/index.ts";
import { TimeLimits } from "../../src/engine/time-limits.ts";
import { closeEngines, run, scriptedEngine, until } from "../support/scripted-engine.ts";
import { scriptedStart } from "../support/scripted-start.ts";

afterEach(closeEngines);

const shortage = "memory limit 400 MiB, needed about 1.2 GiB";

/** Starts an engine whose worker has four lanes until the kernel killed one; it collects exits and log records. */
async function engine(options: Partial<EngineOptions>) {
  const exits: UnexpectedExit[] = [];
  const records: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line) => void records.push(JSON.parse(line)) });
  const made = scriptedEngine({
    prepare: async (exit) => [{ ...scriptedStart, lanes: exit?.killedForMemory === true ? 1 : 4 }],
    log,
    memoryShortage: () => shortage,
    onUnexpectedExit: (exit) => exits.push(exit),
    ...options,
  });
  await made.ready();
  return { made, exits, records };
}

test("a worker that the kernel killed for lack of memory is reported with the limit and the need, and restarted as prepared", async () => {
  using directory = temporaryDirectory();
  let kills = 7;
  const { made, exits, records } = await engine({ memoryKills: () => kills });
  expect(made.partsAtOnce).toBe(4);
  const waiting = Array.from({ length: 4 }, () => run(made, "answer"));
  await Promise.all(waiting);
  const killed = run(made, `kill-until:1:${join(directory.path, "attempts")}`);
  kills += 1;
  expect(await killed).toEqual({ chunks: [] });
  expect(exits).toMatchObject([{ signal: "SIGKILL", killedForMemory: true }]);
  const record = records.find(({ event }) => event === "engine.worker_exited");
  expect(record).toMatchObject({ trouble: `the kernel ended the worker: ${shortage}`, killedForMemory: true });
  expect(made.partsAtOnce).toBe(1);
  expect(made.status()).toMatchObject({ state: "ready", trouble: null, restarts: 1 });
});

test("a worker that somebody else killed is not said to be killed for lack of memory, also after earlier kills", async () => {
  using directory = temporaryDirectory();
  const { made, exits, records } = await engine({ memoryKills: () => 7 });
  await run(made, `kill-until:1:${join(directory.path, "attempts")}`);
  expect(exits).toHaveLength(1);
  expect(exits[0]?.killedForMemory).toBeUndefined();
  const record = records.find(({ event }) => event === "engine.worker_exited");
  expect(record).toMatchObject({ trouble: "the worker exited with SIGKILL" });
  expect(made.partsAtOnce).toBe(4);
});

test("a worker that is killed because it is stuck is not said to be killed for lack of memory", async () => {
  let kills = 0;
  const timeLimits = new TimeLimits({ minSeconds: 0.1, startSeconds: 20 });
  const { made, exits } = await engine({ memoryKills: () => kills, timeLimits, checkMilliseconds: 10 });
  // The first operation of a kind has a longer limit.
  await run(made, "answer");
  const stuck = run(made, "wait").catch(() => {});
  kills += 1;
  await until(() => exits.length !== 0);
  expect(exits[0]).toMatchObject({ signal: "SIGKILL", stalled: true });
  expect(exits[0]?.killedForMemory).toBeUndefined();
  await made.close();
  await stuck;
});
