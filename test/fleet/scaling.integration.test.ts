import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { natsServerProgram } from "../../harness/nats-server.ts";
import type { FleetWorker } from "../../src/fleet/index.ts";
import { notedRecord } from "../support/scripted-engine.ts";
import { expected, present, ScriptedEngine, ScriptedFleet, textOf, untilAborted } from "../support/scripted-fleet.ts";

setDefaultTimeout(120_000);

const program = await natsServerProgram("tests of workers that come and go with a real broker");
const never = new AbortController().signal;

/** Each test has a broker of its own, so that all of them wait at the same time. */
describe.skipIf(program === null)("a worker that is told to stop", () => {
  test.concurrent("finishes what runs, returns what has not begun, and takes no more", async () => {
    await using fleet = await ScriptedFleet.start(program, [], ["gpu"]);
    const { engine } = await fleet.coordinator(false);
    const slow = new ScriptedEngine(1, () => Bun.sleep(1500));
    const first = await fleet.worker("gpu.a", slow);
    await present(engine, 1);
    const record = notedRecord();
    const results = Promise.all([0, 1, 2, 3].map((at) => fleet.ask(engine, at, { record })));
    while (first.busy === 0) await Bun.sleep(10);
    const drained = first.drain(never);
    expect([first.isReady, first.trouble]).toEqual([false, "it is stopping"]);
    const other = new ScriptedEngine();
    await fleet.worker("gpu.b", other);
    await drained;
    await first.stop();
    expect((await results).map(textOf)).toEqual([0, 1, 2, 3].map(expected));
    expect([slow.started.length, other.started.length]).toEqual([1, 3]);
    expect(record.noted).toEqual(["start", "start", "start", "start"]);
    expect(engine.counts).toMatchObject({ redelivered: 0, lateResults: 0, unreported: 0 });
  });

  test.concurrent("hands over what still runs at the end of its time, without an interrupted attempt", async () => {
    await using fleet = await ScriptedFleet.start(program, [], ["gpu"]);
    const { engine } = await fleet.coordinator(false);
    const endless = await fleet.worker("gpu.a", new ScriptedEngine(1, untilAborted));
    const record = notedRecord();
    const running = fleet.ask(engine, 1, { record });
    while (endless.busy === 0) await Bun.sleep(10);
    await fleet.worker("gpu.b");
    const since = performance.now();
    await endless.drain(AbortSignal.timeout(300));
    await endless.stop();
    expect(performance.now() - since).toBeLessThan(3000);
    expect(textOf(await running)).toBe(expected(1));
    expect(record.noted).toEqual(["start", "returned", "start"]);
  });

  test.concurrent("1, then 8, then 1 workers of a pool lose and repeat no part", async () => {
    await using fleet = await ScriptedFleet.start(program, [], ["gpu"]);
    const { engine } = await fleet.coordinator(false);
    const engines: ScriptedEngine[] = [];
    const join = async (name: string): Promise<FleetWorker> => {
      const own = new ScriptedEngine(2, () => Bun.sleep(40 + 120 * Math.random()));
      engines.push(own);
      return await fleet.worker(`gpu.${name}`, own);
    };
    const leave = async (worker: FleetWorker) => {
      await worker.drain(never);
      await worker.stop();
    };
    const parts = 600;
    const record = notedRecord();
    const stays = await join("n0");
    await present(engine, 1);
    const results = Promise.all(Array.from({ length: parts }, (_, at) => fleet.ask(engine, at % 60, { record })));
    const workers = await Promise.all(Array.from({ length: 7 }, (_, at) => join(`n${at + 1}`)));
    await present(engine, 8);
    await Bun.sleep(2000);
    await Promise.all(workers.map(leave));
    expect(engine.load().waiting + engine.load().published).toBeGreaterThan(0);
    expect((await results).map(textOf)).toEqual(Array.from({ length: parts }, (_, at) => expected(at % 60)));
    const started = engines.map((each) => each.started.length);
    expect(started.every((number) => number > 0)).toBe(true);
    expect(started.reduce((sum, number) => sum + number, 0)).toBe(parts);
    expect(record.noted.every((each) => each === "start")).toBe(true);
    expect(engine.counts).toMatchObject({ redelivered: 0, lateResults: 0, refusedResults: 0, unreported: 0 });
    expect(engine.machines().map(({ machine }) => machine)).toEqual(["gpu.n0"]);
    expect(stays.isReady).toBe(true);
  });
});
