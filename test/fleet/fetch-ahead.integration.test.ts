import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { encode, parse, replySchema, type Started, startedSchema } from "../../src/fleet/messages.ts";
import { expected, notedRecord, ScriptedEngine, ScriptedFleet, textOf, untilAborted } from "./scripted-fleet.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("operations that workers fetch ahead, with a real broker");

describe.skipIf(program === null)("a worker with short operations", () => {
  let fleet: ScriptedFleet;
  beforeAll(async () => {
    fleet = await ScriptedFleet.start(program ?? "");
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  /** Starts a coordinator, a worker that has completed an operation, and a listener to the workers' requests. */
  async function start(stack: AsyncDisposableStack, milliseconds = 20) {
    const { engine } = await fleet.coordinator(false, stack);
    const started: Started[] = [];
    const listener = await fleet.connect("listener", stack);
    listener.subscribe("transcribe.started.>", (data) => {
      started.push(parse(startedSchema, data));
      return null;
    });
    const other = new ScriptedEngine(1);
    other.behave = () => Bun.sleep(milliseconds);
    const broker = await fleet.connect("w0", stack);
    const worker = await fleet.worker("w0", other, stack, { broker });
    await fleet.ask(engine, 0);
    return { engine, other, worker, broker, started };
  }

  /** Requests two operations, of which the worker runs the first one for ever. */
  async function block({ engine, other }: Awaited<ReturnType<typeof start>>) {
    other.behave = untilAborted;
    const records = [notedRecord(), notedRecord()];
    const running = [fleet.ask(engine, 1, undefined, records[0])];
    while (other.started.length < 2) await Bun.sleep(10);
    running.push(fleet.ask(engine, 2, undefined, records[1]));
    return { noted: records.map((record) => record.noted), running };
  }

  const waiting = (started: readonly Started[]) => started.filter(({ starts }) => !starts);

  test("fetches one ahead, and returns it without an attempt when it stops", async () => {
    await using stack = new AsyncDisposableStack();
    const own = await start(stack);
    const { noted, running } = await block(own);
    while (waiting(own.started).length === 0) await Bun.sleep(10);
    expect([noted[1], own.worker.busy]).toEqual([[], 1]);
    await fleet.worker("w1", new ScriptedEngine(1), stack);
    await own.worker.stop();
    expect((await Promise.all(running)).map(textOf)).toEqual([expected(1), expected(2)]);
    expect(noted).toEqual([["start", "returned", "start"], ["start"]]);
    expect(own.other.started.length).toBe(2);
  });

  test("loses no attempt of the one ahead when it is killed, and the next start takes it back at once", async () => {
    await using stack = new AsyncDisposableStack();
    const own = await start(stack);
    const { noted, running } = await block(own);
    while (waiting(own.started).length === 0) await Bun.sleep(10);
    // A killed process says nothing to the broker.
    await own.broker.close();
    await fleet.worker("w0", new ScriptedEngine(1), stack, { instance: "i2" });
    expect((await Promise.all(running)).map(textOf)).toEqual([expected(1), expected(2)]);
    // The coordinator published both again. The broker would deliver them again only after ten seconds.
    expect(own.engine.counts).toMatchObject({ published: 5, redelivered: 0 });
    expect(noted).toEqual([["start", "killed", "start"], ["start"]]);
  });

  test("drops the one ahead when it is cancelled", async () => {
    await using stack = new AsyncDisposableStack();
    const own = await start(stack);
    const gate = Promise.withResolvers<void>();
    own.other.behave = () => gate.promise;
    const first = fleet.ask(own.engine, 1);
    while (own.other.started.length < 2) await Bun.sleep(10);
    const cancel = new AbortController();
    const second = fleet.ask(own.engine, 2, cancel.signal);
    while (waiting(own.started).length === 0) await Bun.sleep(10);
    cancel.abort(new Error("no longer wanted"));
    await expect(second).rejects.toThrow("no longer wanted");
    gate.resolve();
    expect(textOf(await first)).toBe(expected(1));
    expect(textOf(await fleet.ask(own.engine, 3))).toBe(expected(3));
    expect(own.other.started).toEqual([0, 1, 3].map((at) => `transcribe part${at}`));
  });

  test("starts none that was delivered to another worker meanwhile", async () => {
    await using stack = new AsyncDisposableStack();
    const own = await start(stack);
    const { running } = await block(own);
    // The coordinator stops with the test.
    for (const one of running) one.catch(() => {});
    while (waiting(own.started).length === 0) await Bun.sleep(10);
    const { id = "" } = waiting(own.started)[0] ?? {};
    const coordinator = id.split("-").slice(0, -5).join("-");
    const raw = await fleet.connect("raw", stack);
    const ask = async (machine: string, delivery: number) => {
      const request = encode({ id, starts: true, delivery } satisfies Started);
      return parse(replySchema, await raw.request(`transcribe.started.${coordinator}.${machine}`, request)).verdict;
    };
    expect([await ask("w2", 2), await ask("w1", 1)]).toEqual(["go", "late"]);
  });

  test("takes none that an idle worker waits for", async () => {
    await using stack = new AsyncDisposableStack();
    const own = await start(stack);
    const { running } = await block(own);
    while (waiting(own.started).length === 0) await Bun.sleep(10);
    const idle = new ScriptedEngine(1);
    await fleet.worker("w1", idle, stack);
    while (own.engine.machines().length < 2) await Bun.sleep(10);
    for (let at = 3; at < 8; at++) expect(textOf(await fleet.ask(own.engine, at))).toBe(expected(at));
    expect(idle.started).toEqual([3, 4, 5, 6, 7].map((at) => `transcribe part${at}`));
    await own.worker.stop();
    expect((await Promise.all(running)).map(textOf)).toEqual([expected(1), expected(2)]);
  });

  test("fetches none ahead when its operations are long", async () => {
    await using stack = new AsyncDisposableStack();
    const own = await start(stack, 2100);
    const { running } = await block(own);
    const idle = new ScriptedEngine(1);
    await fleet.worker("w1", idle, stack);
    expect(textOf(await (running[1] as Promise<never>))).toBe(expected(2));
    expect([idle.started, waiting(own.started)]).toEqual([["transcribe part2"], []]);
    await own.worker.stop();
    expect(textOf(await (running[0] as Promise<never>))).toBe(expected(1));
  });
});
