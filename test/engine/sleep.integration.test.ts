import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Engine, type EngineOptions, HealthCheck } from "../../src/engine/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { isAlive } from "../e2e/processes.ts";
import { scriptedStart } from "../support/scripted-start.ts";

const engines: Engine[] = [];
let exits = 0;
afterEach(async () => {
  for (const each of engines.splice(0)) await each.close();
  exits = 0;
});

/** An engine whose worker sleeps after a moment of nothing to do. */
function engine(options: Partial<EngineOptions> = {}): Engine {
  const made = new Engine({
    command: [process.execPath, join(import.meta.dir, "../support/scripted-worker.ts")],
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

describe("a worker that nobody needs", () => {
  test("is ended after its time, and is not said to have died", async () => {
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

  test("is there again for the next operation, whenever that comes, time after time", async () => {
    const made = engine();
    const pids = new Set<number | null>();
    for (let time = 0; time < 4; time++) {
      await until(made, "asleep");
      // At once: the old worker may be on its way out.
      if (time % 2 === 0) await pause();
      expect(await made.run("planChunks", script("answer"), never)).toEqual({ chunks: [] });
      pids.add(pidOf(made));
    }
    expect(pids.size).toBe(4);
    expect([exits, made.status().restarts]).toEqual([0, 0]);
  });

  test("is started when it is told that somebody will need it soon, and stays no longer than that", async () => {
    const made = engine();
    await until(made, "asleep");
    made.wake();
    expect(made.status().state).toBe("waking");
    await until(made, "ready");
    await until(made, "asleep");
  });

  test("stays where no time is set, from the moment that none is", async () => {
    let limit = 0;
    const made = engine({ idleMilliseconds: () => limit });
    await made.ready();
    await pause();
    expect(made.status().state).toBe("ready");
    limit = 40;
    await until(made, "asleep");
  });

  test("stays while it is at something, or something waits for it", async () => {
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

  test("is kept awake by nobody who tries it out, and is ready all the same", async () => {
    const made = engine();
    const trial = new HealthCheck({
      engine: made,
      model: () => "/",
      now: () => performance.now(),
      holdsMilliseconds: 15,
    });
    await made.ready();
    const heard = new Set<string | null>();
    while (made.status().state !== "asleep") {
      heard.add(await trial.trouble());
      await Bun.sleep(2);
    }
    for (let look = 0; look < 5; look++) {
      heard.add(await trial.trouble());
      await Bun.sleep(20);
    }
    expect(made.status().state).toBe("asleep");
    made.wake();
    heard.add(await trial.trouble());
    expect([...heard]).toEqual([null]);
  });

  test("that does not come back when it is needed is said to be in trouble, and comes when it can", async () => {
    let starts = 0;
    const made = engine({
      prepare: async () => {
        starts += 1;
        if (starts === 2 || starts === 3) throw new Error("the model is missing");
        return [scriptedStart];
      },
    });
    const trial = new HealthCheck({ engine: made, model: () => "/", now: () => performance.now() });
    await until(made, "asleep");
    const needed = made.run("planChunks", script("answer"), never);
    await until(made, "starting");
    expect(trial.known()).toBe("the model is missing");
    expect(await needed).toEqual({ chunks: [] });
    expect(trial.known()).toBeNull();
  });

  test("that is closed in its sleep, or as it falls asleep, is not started again", async () => {
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
