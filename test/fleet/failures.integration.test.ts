import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { EngineKilledError } from "../../src/engine/index.ts";
import { PRESENCE_MILLISECONDS } from "../../src/fleet/messages.ts";
import { notedRecord } from "../support/scripted-engine.ts";
import { expected, present, ScriptedEngine, ScriptedFleet, textOf, untilAborted } from "../support/scripted-fleet.ts";
import { SlowNetwork } from "./slow-network.ts";

setDefaultTimeout(60_000);

/** Bytes a second of a network that delays nothing. */
const FAST = 1e9;

const program = await natsServerProgram("tests of failures in a fleet with a real broker");

/** Each test has a broker of its own, so that all of them wait at the same time. */
describe.skipIf(program === null)("in a fleet", () => {
  test.concurrent("operations wait with a reason while no worker is present, and continue when one comes", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine, local } = await fleet.coordinator(false);
    const running = fleet.ask(engine, 1);
    expect(engine.problem()).toContain("no worker of the fleet is present");
    expect(engine.load()).toEqual({ waiting: 1, published: 0, here: 0 });
    await fleet.worker("w0");
    expect(textOf(await running)).toBe(expected(1));
    expect([engine.problem(), local.started]).toEqual([null, []]);
  });

  test.concurrent("a coordinator starts while the broker is away, and uses the workers as soon as it is back", async () => {
    await using fleet = await ScriptedFleet.start(program);
    await fleet.broker.stop();
    const broker = await fleet.connect("coordinator", { waits: true });
    const { engine, local } = await fleet.coordinator(true, { broker });
    expect(textOf(await fleet.ask(engine, 1))).toBe(expected(1));
    await fleet.broker.start();
    const other = new ScriptedEngine();
    await fleet.worker("w0", other);
    await present(engine, 1);
    local.behave = untilAborted;
    const cancel = new AbortController();
    const blocked = fleet.ask(engine, 2, { signal: cancel.signal }).catch(() => {});
    expect(textOf(await fleet.ask(engine, 3))).toBe(expected(3));
    expect(other.started).toEqual(["transcribe part3"]);
    cancel.abort();
    await blocked;
  });

  test.concurrent("an operation whose worker is killed and started again is retried at once, and fails after three kills", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    const record = notedRecord();
    const running = fleet.ask(engine, 1, { record });
    for (const instance of ["i1", "i2", "i3"]) {
      const broker = await fleet.connect("w0");
      const other = new ScriptedEngine(1, untilAborted);
      await fleet.worker("w0", other, { instance, broker });
      while (other.started.length === 0) await Bun.sleep(10);
      // A killed process says nothing to the broker.
      await broker.close();
    }
    await fleet.worker("w0", new ScriptedEngine(), { instance: "i4" });
    await expect(running).rejects.toThrow(EngineKilledError);
    expect(record.noted).toEqual(["start", "killed", "start", "killed", "start", "killed"]);
    expect(textOf(await fleet.ask(engine, 2))).toBe(expected(2));
  });

  test.concurrent("two machines with the same name by mistake take no operations from each other", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    const twins = [new ScriptedEngine(), new ScriptedEngine()];
    const gate = Promise.withResolvers<void>();
    for (const each of twins) each.behave = () => gate.promise;
    // Both report every three seconds; the older one reports last.
    await fleet.worker("w0", twins[0] as ScriptedEngine, { instance: "i2" });
    await present(engine, 1);
    await fleet.worker("w0", twins[1] as ScriptedEngine, { instance: "i1" });
    const record = notedRecord();
    const running = fleet.ask(engine, 1, { record });
    while (twins.every(({ started }) => started.length === 0)) await Bun.sleep(10);
    await fleet.worker("w0", new ScriptedEngine(0), { instance: "i1" });
    while (engine.machines()[0]?.instance !== "i1") await Bun.sleep(10);
    gate.resolve();
    expect(textOf(await running)).toBe(expected(1));
    expect(record.noted).toEqual(["start"]);
  });

  test.concurrent("a machine that leaves and a broker that exits cost an operation no attempt", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    const record = notedRecord();
    const [first, second] = [new ScriptedEngine(), new ScriptedEngine()];
    first.behave = untilAborted;
    const leaving = await fleet.worker("w0", first);
    const running = fleet.ask(engine, 1, { record });
    while (first.started.length === 0) await Bun.sleep(10);
    const gate = Promise.withResolvers<void>();
    second.behave = () => gate.promise;
    await fleet.worker("w1", second);
    await leaving.stop();
    while (second.started.length === 0) await Bun.sleep(10);
    await fleet.broker.stop();
    gate.resolve();
    await fleet.broker.start();
    expect(textOf(await running)).toBe(expected(1));
    expect(record.noted).toEqual(["start", "returned", "start", "returned", "start"]);
  });

  test.concurrent("a coordinator that was killed leaves nothing to its successor, and its late results are refused", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const killed = await fleet.coordinator(false);
    const gate = Promise.withResolvers<void>();
    const other = new ScriptedEngine(1, () => gate.promise);
    await fleet.worker("w0", other);
    const lost = [1, 2].map((at) => fleet.ask(killed.engine, at).catch(() => {}));
    while (other.started.length === 0 || killed.engine.load().published < 2) await Bun.sleep(10);
    await killed.broker.close();
    const { engine } = await fleet.coordinator(false);
    const running = fleet.ask(engine, 3);
    gate.resolve();
    expect(textOf(await running)).toBe(expected(3));
    // One of the first two started before the kill.
    expect(other.started).toEqual([expect.stringMatching(/part[12]$/), "transcribe part3"]);
    killed.engine.close();
    await Promise.all(lost);
  });

  test.concurrent("the operations of a coordinator that is gone do not stay in the broker", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine, broker } = await fleet.coordinator(false);
    const other = new ScriptedEngine(2);
    const gate = Promise.withResolvers<void>();
    other.behave = () => gate.promise;
    await fleet.worker("w0", other);
    const lost = [1, 2, 3].map((at) => fleet.ask(engine, at).catch(() => {}));
    while (other.started.length < 2 || engine.load().published < 3) await Bun.sleep(10);
    await broker.close();
    const inspector = await fleet.connect("inspector");
    gate.resolve();
    while ((await inspector.stream.report())?.messages !== 0) await Bun.sleep(20);
    expect(other.started.length).toBe(2);
    engine.close();
    await Promise.all(lost);
  });

  test.concurrent("a worker stops at once while the broker does not answer, and another one runs its operation", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    const gate = Promise.withResolvers<void>();
    const other = new ScriptedEngine(1, () => gate.promise);
    const worker = await fleet.worker("w0", other);
    const running = fleet.ask(engine, 1);
    while (other.started.length === 0) await Bun.sleep(10);
    process.kill(fleet.broker.pid, "SIGSTOP");
    try {
      gate.resolve();
      // Its result waits for an answer.
      await Bun.sleep(100);
      const stoppedAt = performance.now();
      await worker.stop();
      // An answer of the broker would be awaited for 15 seconds.
      expect(performance.now() - stoppedAt).toBeLessThan(10_000);
    } finally {
      process.kill(fleet.broker.pid, "SIGCONT");
    }
    await fleet.worker("w1");
    expect(textOf(await running)).toBe(expected(1));
  });

  test.concurrent("a slow network delays the parts on their way, but none is sent twice, and few are on their way", async () => {
    await using fleet = await ScriptedFleet.start(program);
    // A part of a minute has 1.9 MB and takes longer than an answer of the broker may take.
    const network = fleet.use(new SlowNetwork(fleet.broker.url, 320_000));
    const { engine } = await fleet.coordinator(false, {
      broker: await fleet.connect("coordinator", { url: network.url }),
    });
    await fleet.worker("w0");
    await present(engine, 1);
    const running = [0, 1, 2, 3, 4].map((at) => fleet.ask(engine, at, { seconds: at === 0 ? 59 : 1 }));
    expect(engine.load()).toEqual({ waiting: 3, published: 2, here: 0 });
    expect((await Promise.all(running)).map(textOf)).toEqual(running.map((_, at) => expected(at)));
    expect(engine.counts).toMatchObject({ published: 5, redelivered: 0, lateResults: 0 });
  });

  test.concurrent("a large part on its way through a slow network delays no answer of the coordinator", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const network = fleet.use(new SlowNetwork(fleet.broker.url, 320_000));
    const [broker, partsBroker] = [
      await fleet.connect("coordinator", { url: network.url }),
      await fleet.connect("coordinator", { url: network.url }),
    ];
    const { engine } = await fleet.coordinator(false, { broker, partsBroker });
    const other = new ScriptedEngine();
    await fleet.worker("w0", other);
    await present(engine, 1);
    const worker = await fleet.connect("w1");
    const running = fleet.ask(engine, 0, { seconds: 24 });
    // The part has 0.8 MB and takes more than two seconds.
    let answers = 0;
    while (engine.counts.published === 0 && other.started.length === 0) {
      await worker.request("transcribe.status.w1", new Uint8Array());
      answers++;
    }
    // Behind the part, the first answer would have arrived last.
    expect(answers).toBeGreaterThan(4);
    expect(textOf(await running)).toBe(expected(0));
  });

  test.concurrent("when only the connection for parts is lost, workers continue, and other parts wait until it is back", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const network = fleet.use(new SlowNetwork(fleet.broker.url, FAST));
    const partsBroker = await fleet.connect("coordinator", { url: network.url });
    const { engine } = await fleet.coordinator(false, { partsBroker });
    const gate = Promise.withResolvers<void>();
    const other = new ScriptedEngine(1, () => gate.promise);
    await fleet.worker("w0", other);
    const record = notedRecord();
    const running = [fleet.ask(engine, 1, { record })];
    while (other.started.length === 0) await Bun.sleep(10);
    running.push(fleet.ask(engine, 2));
    while (engine.counts.published < 2) await Bun.sleep(10);
    network[Symbol.dispose]();
    while (partsBroker.connected) await Bun.sleep(10);
    expect(engine.load()).toEqual({ waiting: 1, published: 1, here: 0 });
    // The coordinator checks its workers in this time.
    await Bun.sleep(1.2 * PRESENCE_MILLISECONDS);
    gate.resolve();
    expect(textOf(await (running[0] as Promise<never>))).toBe(expected(1));
    expect([record.noted, engine.load().waiting]).toEqual([["start"], 1]);
    fleet.use(new SlowNetwork(fleet.broker.url, FAST, Number(new URL(network.url).port)));
    expect(textOf(await (running[1] as Promise<never>))).toBe(expected(2));
    expect(other.started).toEqual(["transcribe part1", "transcribe part2"]);
  });
});
