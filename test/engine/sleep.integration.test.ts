import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { isAlive } from "../../harness/processes.ts";
import { Engine, type EngineOptions, HealthCheck } from "../../src/engine/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { scriptedStart } from "./scripted-start.ts";

const engines: Engine[] = [];
let exits = 0;
afterEach(async () => {
  for (const each of engines.splice(0)) await each.close();
  exits = 0;
});

/** Returns an engine whose worker falls asleep after 40 ms without work. */
function engine(options: Partial<EngineOptions> = {}): Engine {
  const made = new Engine({
    command: [process.execPath, join(import.meta.dir, "scripted-worker.ts")],
    prepare: async () => [scriptedStart],
    log: createLogger("silent"),
    restartDelayMilliseconds: () => 10,
    idleMilliseconds: () => 40,
    checkMilliseconds: 10,
    onUnexpectedExit: () => {
      exits += 1;
    },
    ...options,
  });
  engines.push(made);
  return made;
}

const pidOf = (made: Engine) => made.status().workers[0]?.pid ?? null;
const never = new AbortController().signal;
const script = (path: string) => ({ area: { directory: "/", pcm: { path, sampleCount: 1 } } });
const until = async (made: Engine, state: string) => {
  while (made.status().state !== state) await Bun.sleep(5);
};
const pause = () => Bun.sleep(150);

describe("an idle worker", () => {
  test("is ended after the idle time, without being reported as an unexpected exit", async () => {
    const made = engine();
    await made.run("planChunks", script("answer"), never);
    const pid = pidOf(made) ?? 0;
    expect(isAlive(pid)).toBe(true);
    await until(made, "asleep");
    while (isAlive(pid)) await Bun.sleep(5);
    while (pidOf(made) !== null) await Bun.sleep(5);
    expect(made.status()).toMatchObject({ state: "asleep", trouble: null, restarts: 0, busy: false });
    expect(exits).toBe(0);
  });

  test("is started again for the next operation, repeatedly", async () => {
    const made = engine();
    const pids = new Set<number | null>();
    for (let time = 0; time < 4; time++) {
      await until(made, "asleep");
      // In every second round the old process may still be exiting.
      if (time % 2 === 0) await pause();
      expect(await made.run("planChunks", script("answer"), never)).toEqual({ chunks: [] });
      pids.add(pidOf(made));
    }
    expect(pids.size).toBe(4);
    expect([exits, made.status().restarts]).toEqual([0, 0]);
  });

  test("is started by wake, and falls asleep again if no operation follows", async () => {
    let limit = 40;
    const made = engine({ idleMilliseconds: () => limit });
    await until(made, "asleep");
    // A ready worker must not fall asleep again before this process sees it.
    limit = 0;
    made.wake();
    expect(made.status().state).toBe("waking");
    await until(made, "ready");
    limit = 40;
    await until(made, "asleep");
  });

  test("keeps running while the idle time is 0, which may change at any time", async () => {
    let limit = 0;
    const made = engine({ idleMilliseconds: () => limit });
    await made.ready();
    await pause();
    expect(made.status().state).toBe("ready");
    limit = 40;
    await until(made, "asleep");
  });

  test("keeps running while an operation runs or waits", async () => {
    const made = engine();
    const [running, waiting] = [new AbortController(), new AbortController()];
    const outcomes = [
      made.run("planChunks", script("wait"), running.signal),
      made.run("planChunks", script("answer"), waiting.signal),
    ].map((outcome) => outcome.catch(() => "aborted"));
    await made.ready();
    const pid = pidOf(made);
    await pause();
    expect(made.status()).toMatchObject({ state: "ready", workers: [{ pid }], busy: true });
    running.abort();
    waiting.abort();
    expect(await Promise.all(outcomes)).toEqual(["aborted", "aborted"]);
  });

  test("is not kept awake by health checks, and counts as healthy when asleep", async () => {
    const made = engine();
    const health = new HealthCheck({
      engine: made,
      model: () => "/",
      now: () => performance.now(),
      validMilliseconds: 15,
    });
    await made.ready();
    const troubles = new Set<string | null>();
    while (made.status().state !== "asleep") {
      troubles.add(await health.trouble());
      await Bun.sleep(2);
    }
    for (let look = 0; look < 5; look++) {
      troubles.add(await health.trouble());
      await Bun.sleep(20);
    }
    expect(made.status().state).toBe("asleep");
    made.wake();
    troubles.add(await health.trouble());
    expect([...troubles]).toEqual([null]);
  });

  test("that cannot be started again reports the trouble until it can", async () => {
    let starts = 0;
    const made = engine({
      prepare: async () => {
        starts += 1;
        if (starts === 2 || starts === 3) throw new Error("the model is missing");
        return [scriptedStart];
      },
    });
    const health = new HealthCheck({ engine: made, model: () => "/", now: () => performance.now() });
    await until(made, "asleep");
    const needed = made.run("planChunks", script("answer"), never);
    await until(made, "starting");
    expect(health.known()).toBe("the model is missing");
    expect(await needed).toEqual({ chunks: [] });
    expect(health.known()).toBeNull();
  });

  test("that is closed while it sleeps or falls asleep is not started again", async () => {
    for (const wait of [0, 100]) {
      const made = engine();
      await until(made, "asleep");
      await Bun.sleep(wait);
      await made.close();
      made.wake();
      expect(made.status()).toMatchObject({ state: "closed" });
      expect(made.run("planChunks", script("answer"), never)).rejects.toThrow("closed");
    }
  });
});
