import { afterEach, describe, expect, test } from "bun:test";
import { isAlive } from "../../harness/processes.ts";
import { type Engine, type EngineOptions, HealthCheck } from "../../src/engine/index.ts";
import { closeEngines, pidOf, run, scriptedEngine, until } from "../support/scripted-engine.ts";
import { scriptedStart } from "../support/scripted-start.ts";

let exits = 0;
afterEach(async () => {
  await closeEngines();
  exits = 0;
});

/** Returns an engine whose worker falls asleep after 40 ms without work. */
function engine(options: Partial<EngineOptions> = {}): Engine {
  const onUnexpectedExit = () => void exits++;
  return scriptedEngine({ idleMilliseconds: () => 40, checkMilliseconds: 10, onUnexpectedExit, ...options });
}

const reached = (made: Engine, state: string) => until(() => made.status().state === state);
const pause = () => Bun.sleep(150);

describe("an idle worker", () => {
  test("is ended after the idle time, without being reported as an unexpected exit", async () => {
    const made = engine();
    await run(made, "answer");
    const pid = pidOf(made) ?? 0;
    expect(isAlive(pid)).toBe(true);
    await reached(made, "asleep");
    await until(() => !isAlive(pid) && pidOf(made) === null);
    expect(made.status()).toMatchObject({ state: "asleep", trouble: null, restarts: 0, busy: false });
    expect(exits).toBe(0);
  });

  test("is started again for the next operation, repeatedly", async () => {
    const made = engine();
    const pids = new Set<number | null>();
    for (let time = 0; time < 4; time++) {
      await reached(made, "asleep");
      // In every second round the old process may still be exiting.
      if (time % 2 === 0) await pause();
      expect(await run(made, "answer")).toEqual({ chunks: [] });
      pids.add(pidOf(made));
    }
    expect(pids.size).toBe(4);
    expect([exits, made.status().restarts]).toEqual([0, 0]);
  });

  test("is started by wake, and falls asleep again if no operation follows", async () => {
    let limit = 40;
    const made = engine({ idleMilliseconds: () => limit });
    await reached(made, "asleep");
    // A ready worker must not fall asleep again before this process sees it.
    limit = 0;
    made.wake();
    expect(made.status().state).toBe("waking");
    await reached(made, "ready");
    limit = 40;
    await reached(made, "asleep");
  });

  test("keeps running while the idle time is 0, which may change at any time", async () => {
    let limit = 0;
    const made = engine({ idleMilliseconds: () => limit });
    await made.ready();
    await pause();
    expect(made.status().state).toBe("ready");
    limit = 40;
    await reached(made, "asleep");
  });

  test("keeps running while an operation runs or waits", async () => {
    const made = engine();
    const [running, waiting] = [new AbortController(), new AbortController()];
    const outcomes = [run(made, "wait", running.signal), run(made, "answer", waiting.signal)].map((outcome) =>
      outcome.catch(() => "aborted"),
    );
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
    await reached(made, "asleep");
    const needed = run(made, "answer");
    await reached(made, "starting");
    expect(health.known()).toBe("the model is missing");
    expect(await needed).toEqual({ chunks: [] });
    expect(health.known()).toBeNull();
  });

  test("that is closed while it sleeps or falls asleep is not started again", async () => {
    for (const wait of [0, 100]) {
      const made = engine();
      await reached(made, "asleep");
      await Bun.sleep(wait);
      await made.close();
      made.wake();
      expect(made.status()).toMatchObject({ state: "closed" });
      expect(run(made, "answer")).rejects.toThrow("closed");
    }
  });
});
