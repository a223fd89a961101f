import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Consumer, jetstream } from "@nats-io/jetstream";
import pino from "pino";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { unpack, workSchema } from "../../src/fleet/messages.ts";
import { notedRecord } from "../support/scripted-engine.ts";
import {
  build,
  expected,
  model,
  presenceOf,
  present,
  ScriptedEngine,
  ScriptedFleet,
  textOf,
} from "../support/scripted-fleet.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("workers that fetch operations and never report them, with a real broker");

/** Time for the first report in these tests. */
const REPORT_MILLISECONDS = 1000;

interface Silent {
  /** Fetches the next operation, treats it as the worker does, and returns its id. */
  fetch(): Promise<string>;
  /** Reports that the machine is present, and which operations it has. */
  report(holds: readonly string[]): void;
}

/** Ways in which a worker keeps an operation without a report. The broker would wait for ever in both. */
const ways = {
  "reports progress to the broker for ever": "working",
  "acknowledges it at once": "ack",
} as const;

/** Each test has a broker of its own, so that all of them wait at the same time. */
describe.skipIf(program === null)("a worker that fetches operations and never reports them", () => {
  async function coordinator(fleet: ScriptedFleet) {
    const lines: Record<string, unknown>[] = [];
    const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
    const reportLimits = { milliseconds: () => REPORT_MILLISECONDS, checkMilliseconds: 50 };
    const own = await fleet.coordinator(false, { log, reportLimits });
    return { ...own, silent: () => lines.filter(({ event }) => event === "fleet.operation_unreported") };
  }

  async function silentWorker(fleet: ScriptedFleet, machine: string, way: "working" | "ack"): Promise<Silent> {
    const connection = await fleet.intrude(machine);
    const report = (holds: readonly string[]) =>
      connection.publish(`transcribe.presence.${machine}`, presenceOf(machine, holds));
    report([]);
    let consumer: Consumer | null = null;
    const fetch = async () => {
      consumer ??= await jetstream(connection).consumers.get("TRANSCRIBE_WORK", `work-${build}-${model.sha256}`);
      const message = await consumer.next({ expires: 20_000 });
      if (message === null) throw new Error("no operation arrives");
      if (way === "ack") message.ack();
      const beats = setInterval(() => way === "working" && message.working(), 100);
      fleet.defer(() => clearInterval(beats));
      return unpack(workSchema, message.data).header.id;
    };
    return { fetch, report };
  }

  for (const [what, way] of Object.entries(ways)) {
    test.concurrent(`and ${what} loses the part to another one, without an attempt`, async () => {
      await using fleet = await ScriptedFleet.start(program);
      const { engine, silent } = await coordinator(fleet);
      const worker = await silentWorker(fleet, "w0", way);
      await present(engine, 1);
      const record = notedRecord();
      const running = fleet.ask(engine, 1, { record });
      await worker.fetch();
      const other = new ScriptedEngine();
      await fleet.worker("w1", other);
      expect(textOf(await fleet.ask(engine, 2))).toBe(expected(2));
      expect(textOf(await running)).toBe(expected(1));
      expect([record.noted, other.started]).toEqual([["start"], ["transcribe part2", "transcribe part1"]]);
      expect(engine.counts).toMatchObject({ published: 3, unreported: 1, redelivered: 0 });
      // Nobody knows who fetched it. Only this machine reported nothing meanwhile.
      expect(silent()).toMatchObject([{ operation: "transcribe", machine: "unknown", suspects: ["w0"] }]);
      expect(engine.machines().map(({ problem }) => problem)).toEqual([null, null]);
    });
  }

  test.concurrent("and lists them as its own is named, and gets none after three", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine, silent } = await coordinator(fleet);
    const worker = await silentWorker(fleet, "w0", "working");
    await present(engine, 1);
    const running: Promise<unknown>[] = [];
    for (let at = 1; at <= 3; at++) {
      running.push(fleet.ask(engine, at).catch(() => {}));
      const held = [await worker.fetch()];
      // A worker reports again and again what it holds.
      for (; engine.counts.unreported < at; await Bun.sleep(50)) worker.report(held);
    }
    expect(silent().map(({ machine }) => machine)).toEqual(["w0", "w0", "w0"]);
    expect(engine.machines()[0]?.problem).toContain("held them for too long");
    engine.close();
    await Promise.all(running);
  });

  test.concurrent("and takes a part again and again loses it to the coordinator's own engine", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine, local } = await coordinator(fleet);
    const worker = await silentWorker(fleet, "w0", "working");
    await present(engine, 1);
    const record = notedRecord();
    const running = fleet.ask(engine, 1, { record });
    const ids = [await worker.fetch(), await worker.fetch()];
    expect(textOf(await running)).toBe(expected(1));
    expect([new Set(ids).size, local.started]).toEqual([2, ["transcribe part1"]]);
    expect(engine.counts).toMatchObject({ published: 2, unreported: 2 });
  });

  test.concurrent("takes nothing from workers that report: neither what runs, nor what waits for a lane or in the broker", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine, silent } = await coordinator(fleet);
    const other = new ScriptedEngine();
    await fleet.worker("w0", other);
    expect(textOf(await fleet.ask(engine, 0))).toBe(expected(0));
    const gate = Promise.withResolvers<void>();
    other.behave = () => gate.promise;
    const running = [1, 2, 3].map((at) => fleet.ask(engine, at));
    // Another machine has a lane and fetches nothing, so that one operation waits in the broker.
    await silentWorker(fleet, "w1", "working");
    await present(engine, 2);
    while (engine.counts.published < 4) await Bun.sleep(10);
    const broker = await fleet.connect("inspector");
    await Bun.sleep(2 * REPORT_MILLISECONDS);
    expect((await broker.stream.report())?.messages).toBe(3);
    gate.resolve();
    expect((await Promise.all(running)).map(textOf)).toEqual([1, 2, 3].map(expected));
    expect(engine.counts).toMatchObject({ published: 4, unreported: 0, redelivered: 0, lateResults: 0 });
    expect([silent(), other.started.length]).toEqual([[], 4]);
  });

  test.concurrent("because the coordinator does not answer it pauses, and another one gets the part", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await coordinator(fleet);
    const broker = await fleet.connect("w0");
    let requests = 0;
    broker.request = () => {
      requests++;
      return Promise.reject(new Error("timeout"));
    };
    const [mute, other] = [new ScriptedEngine(), new ScriptedEngine()];
    await fleet.worker("w0", mute, { broker });
    const running = fleet.ask(engine, 1);
    while (requests === 0) await Bun.sleep(10);
    await fleet.worker("w1", other);
    expect(textOf(await running)).toBe(expected(1));
    expect([requests, mute.started, other.started]).toEqual([1, [], ["transcribe part1"]]);
  });
});
