import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { EngineKilledError, RemoteAttempts } from "../../src/engine/index.ts";
import type { WorkerModel } from "../../src/fleet/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { notedRecord } from "../support/scripted-engine.ts";
import {
  expected,
  model,
  present,
  ScriptedEngine,
  ScriptedFleet,
  textOf,
  untilAborted,
} from "../support/scripted-fleet.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("tests of unusual workers with a real broker");

/** Each test has a broker of its own, so that all of them wait at the same time. */
describe.skipIf(program === null)("a fleet with unusual workers", () => {
  test.concurrent("an operation that a worker reports as running for ever is taken back; after three the worker gets none", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const attempts = new RemoteAttempts({ log: createLogger("silent"), maxSeconds: 0.6, checkMilliseconds: 20 });
    const { engine } = await fleet.coordinator(false, { attempts });
    const stuck = new ScriptedEngine();
    // It ignores that its operations are cancelled.
    stuck.behave = () => Bun.sleep(700);
    await fleet.worker("w0", stuck);
    const record = notedRecord();
    await expect(fleet.ask(engine, 1, { record })).rejects.toThrow(EngineKilledError);
    expect(record.noted.filter((each) => each !== "start")).toEqual(["killed", "killed", "killed"]);
    expect(engine.machines()[0]?.problem).toContain("it failed at 3 parts");
    expect(engine.problem()).toContain("w0: it failed at 3 parts");
    expect(engine.partsAtOnce).toBe(1);
    const running = fleet.ask(engine, 2);
    await fleet.worker("w1");
    expect(textOf(await running)).toBe(expected(2));
    expect(stuck.started.length).toBe(3);
    expect(engine.problem()).toBeNull();
  });

  test.concurrent("an operation that a worker cannot run now counts no attempt, and after three the worker gets none", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    let attempts = 0;
    const full = async () => {
      attempts++;
      throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    };
    await fleet.worker("w0", new ScriptedEngine(), { models: () => [{ ...model, prepare: full }] });
    const record = notedRecord();
    const running = fleet.ask(engine, 1, { record });
    while (engine.problem()?.includes("w0: it failed at 3 parts") !== true) await Bun.sleep(10);
    expect(attempts).toBe(3);
    await fleet.worker("w1");
    expect(textOf(await running)).toBe(expected(1));
    expect(record.noted).toEqual([...Array(3).fill(["start", "returned"]).flat(), "start"]);
  });

  test.concurrent("a worker cannot report for another one", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    await fleet.worker("w0");
    await present(engine, 1);
    const hostile = await fleet.connect("hostile");
    const presence = { ...engine.machines()[0], leaves: true };
    hostile.publish("transcribe.presence.hostile", new TextEncoder().encode(JSON.stringify(presence)));
    // The coordinator answers requests in their order.
    await hostile.request("transcribe.status.hostile", new Uint8Array());
    expect(engine.machines().map(({ machine }) => machine)).toEqual(["w0"]);
    expect(textOf(await fleet.ask(engine, 1))).toBe(expected(1));
  });

  test.concurrent("an operation that a worker fetched beyond its lanes counts no attempt when the worker stops", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const second = { path: "/models/second.bin", sha256: "b".repeat(64) };
    const models = () => [model, second].map((each): WorkerModel => ({ ...each, prepare: async () => null }));
    const { engine } = await fleet.coordinator(false, {
      sha256Of: (path) => (path === second.path ? second.sha256 : model.sha256),
      models: () => [model.sha256, second.sha256],
    });
    const first = new ScriptedEngine(1, untilAborted);
    const leaving = await fleet.worker("w0", first, { models });
    await present(engine, 1);
    const records = [notedRecord(), notedRecord()] as const;
    const running = [
      fleet.ask(engine, 1, { record: records[0] }),
      fleet.ask(engine, 2, { record: records[1], path: second.path }),
    ];
    while (engine.load().published < 2 || first.started.length < 1) await Bun.sleep(10);
    await fleet.worker("w1", new ScriptedEngine(), { models });
    await leaving.stop();
    expect((await Promise.all(running)).map(textOf)).toEqual([expected(1), expected(2)]);
    expect(first.started.length).toBe(1);
    const noted = records.map((record) => record.noted).toSorted((a, b) => a.length - b.length);
    expect(noted).toEqual([["start"], ["start", "returned", "start"]]);
  });

  test.concurrent("an operation that waits at a worker is returned when the worker's engine stops working", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    const first = new ScriptedEngine(2, untilAborted);
    await fleet.worker("w0", first);
    await present(engine, 1);
    const cancel = new AbortController();
    const running = fleet.ask(engine, 1, { signal: cancel.signal }).catch(() => {});
    while (first.started.length < 1) await Bun.sleep(10);
    // The worker has requested another operation for its second lane.
    first.lanes = 1;
    const record = notedRecord();
    const waiting = fleet.ask(engine, 2, { record });
    while (engine.counts.published < 2) await Bun.sleep(10);
    await fleet.worker("w1");
    first.lanes = 0;
    expect(textOf(await waiting)).toBe(expected(2));
    expect([record.noted, first.started.length]).toEqual([["start"], 1]);
    cancel.abort();
    await running;
  });

  test.concurrent("a running worker offers the models that are installed, and no longer those that are removed", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    const installed: WorkerModel[] = [];
    const other = new ScriptedEngine();
    await fleet.worker("w0", other, { models: () => [...installed] });
    const offered = () => engine.machines()[0]?.models;
    while (offered() === undefined) await Bun.sleep(10);
    const running = fleet.ask(engine, 1);
    expect([offered(), engine.load().waiting]).toEqual([[], 1]);
    expect(engine.problem()).toContain("1 part waits for a speech model");
    installed.push({ ...model, prepare: async () => null });
    expect(textOf(await running)).toBe(expected(1));
    expect(engine.problem()).toBeNull();
    installed.pop();
    while (offered()?.length !== 0) await Bun.sleep(20);
    const waiting = fleet.ask(engine, 2);
    expect(engine.load()).toEqual({ waiting: 1, published: 0, here: 0 });
    engine.close();
    await expect(waiting).rejects.toThrow("the engine is closed");
  });
});
