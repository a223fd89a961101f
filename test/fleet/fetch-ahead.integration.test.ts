import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { encode, parse, replySchema, type Started, startedSchema } from "../../src/fleet/messages.ts";
import { notedRecord } from "../support/scripted-engine.ts";
import { expected, present, ScriptedEngine, ScriptedFleet, textOf, untilAborted } from "../support/scripted-fleet.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("operations that workers fetch ahead, with a real broker");

/** Each test has a broker of its own, so that all of them wait at the same time. */
describe.skipIf(program === null)("a worker with short operations", () => {
  /** Starts a coordinator, a worker that has completed an operation, and a listener to the workers' requests. */
  async function start(fleet: ScriptedFleet, milliseconds = 20) {
    const { engine } = await fleet.coordinator(false);
    const started: Started[] = [];
    const listener = await fleet.connect("listener");
    listener.subscribe("transcribe.started.>", (data) => {
      started.push(parse(startedSchema, data));
      return null;
    });
    const other = new ScriptedEngine(1, () => Bun.sleep(milliseconds));
    const broker = await fleet.connect("w0");
    const worker = await fleet.worker("w0", other, { broker });
    await fleet.ask(engine, 0);
    return { engine, other, worker, broker, started };
  }

  /** Requests two operations, of which the worker runs the first one for ever. */
  async function block(fleet: ScriptedFleet, { engine, other }: Awaited<ReturnType<typeof start>>) {
    other.behave = untilAborted;
    const records = [notedRecord(), notedRecord()];
    const running = [fleet.ask(engine, 1, { record: records[0] ?? null })];
    while (other.started.length < 2) await Bun.sleep(10);
    running.push(fleet.ask(engine, 2, { record: records[1] ?? null }));
    return { noted: records.map((record) => record.noted), running };
  }

  const waiting = (started: readonly Started[]) => started.filter(({ starts }) => !starts);

  test.concurrent("fetches one ahead, and returns it without an attempt when it stops", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const own = await start(fleet);
    const { noted, running } = await block(fleet, own);
    while (waiting(own.started).length === 0) await Bun.sleep(10);
    expect([noted[1], own.worker.busy]).toEqual([[], 1]);
    await fleet.worker("w1");
    await own.worker.stop();
    expect((await Promise.all(running)).map(textOf)).toEqual([expected(1), expected(2)]);
    expect(noted).toEqual([["start", "returned", "start"], ["start"]]);
    expect(own.other.started.length).toBe(2);
  });

  test.concurrent("loses no attempt of the one ahead when it is killed, and the next start takes it back at once", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const own = await start(fleet);
    const { noted, running } = await block(fleet, own);
    while (waiting(own.started).length === 0) await Bun.sleep(10);
    // A killed process says nothing to the broker.
    await own.broker.close();
    await fleet.worker("w0", new ScriptedEngine(), { instance: "i2" });
    expect((await Promise.all(running)).map(textOf)).toEqual([expected(1), expected(2)]);
    // The coordinator published both again. The broker would deliver them again only after ten seconds.
    expect(own.engine.counts).toMatchObject({ published: 5, redelivered: 0 });
    expect(noted).toEqual([["start", "killed", "start"], ["start"]]);
  });

  test.concurrent("drops the one ahead when it is cancelled", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const own = await start(fleet);
    const gate = Promise.withResolvers<void>();
    own.other.behave = () => gate.promise;
    const first = fleet.ask(own.engine, 1);
    while (own.other.started.length < 2) await Bun.sleep(10);
    const cancel = new AbortController();
    const second = fleet.ask(own.engine, 2, { signal: cancel.signal });
    while (waiting(own.started).length === 0) await Bun.sleep(10);
    cancel.abort(new Error("no longer wanted"));
    await expect(second).rejects.toThrow("no longer wanted");
    gate.resolve();
    expect(textOf(await first)).toBe(expected(1));
    expect(textOf(await fleet.ask(own.engine, 3))).toBe(expected(3));
    expect(own.other.started).toEqual([0, 1, 3].map((at) => `transcribe part${at}`));
  });

  test.concurrent("starts none that was delivered to another worker meanwhile", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const own = await start(fleet);
    const { running } = await block(fleet, own);
    // The coordinator stops with the test.
    for (const one of running) one.catch(() => {});
    while (waiting(own.started).length === 0) await Bun.sleep(10);
    const { id = "" } = waiting(own.started)[0] ?? {};
    const coordinator = id.split("-").slice(0, -5).join("-");
    const raw = await fleet.connect("raw");
    const ask = async (machine: string, delivery: number) => {
      const request = encode({ id, starts: true, delivery } satisfies Started);
      return parse(replySchema, await raw.request(`transcribe.started.${coordinator}.${machine}`, request)).verdict;
    };
    expect([await ask("w2", 2), await ask("w1", 1)]).toEqual(["go", "late"]);
  });

  test.concurrent("takes none that an idle worker waits for", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const own = await start(fleet);
    const { running } = await block(fleet, own);
    while (waiting(own.started).length === 0) await Bun.sleep(10);
    const idle = new ScriptedEngine();
    await fleet.worker("w1", idle);
    await present(own.engine, 2);
    for (let at = 3; at < 8; at++) expect(textOf(await fleet.ask(own.engine, at))).toBe(expected(at));
    expect(idle.started).toEqual([3, 4, 5, 6, 7].map((at) => `transcribe part${at}`));
    await own.worker.stop();
    expect((await Promise.all(running)).map(textOf)).toEqual([expected(1), expected(2)]);
  });

  test.concurrent("fetches none ahead when its operations are long", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const own = await start(fleet, 2100);
    const { running } = await block(fleet, own);
    const idle = new ScriptedEngine();
    await fleet.worker("w1", idle);
    expect(textOf(await (running[1] as Promise<never>))).toBe(expected(2));
    expect([idle.started, waiting(own.started)]).toEqual([["transcribe part2"], []]);
    await own.worker.stop();
    expect(textOf(await (running[0] as Promise<never>))).toBe(expected(1));
  });
});
