import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "@nats-io/transport-node";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { FleetDirectory, fleetStatus } from "../../src/fleet/index.ts";
import { encode, subjects } from "../../src/fleet/messages.ts";
import { expectRefused, refusals } from "../support/broker-refusals.ts";
import {
  build,
  expected,
  filesOf,
  model,
  presenceOf,
  present,
  ScriptedEngine,
  ScriptedFleet,
  textOf,
  untilAborted,
} from "../support/scripted-fleet.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("tests of pools with a real broker");
const start = () => ScriptedFleet.start(program, ["w1"], ["gpu", "cpu"]);

/** Each test has a broker of its own, so that all of them wait at the same time. */
describe.skipIf(program === null)("a pool of workers with one certificate", () => {
  test.concurrent("lets two workers with the same files process operations, each under its own name", async () => {
    await using fleet = await start();
    const { engine } = await fleet.coordinator(false);
    const engines = [new ScriptedEngine(1, () => Bun.sleep(50)), new ScriptedEngine(1, () => Bun.sleep(50))];
    await fleet.worker("gpu.pod-1", engines[0]);
    await fleet.worker("gpu.pod-2", engines[1]);
    await present(engine, 2);
    const results = await Promise.all(Array.from({ length: 12 }, (_, at) => fleet.ask(engine, at)));
    expect(results.map(textOf)).toEqual(Array.from({ length: 12 }, (_, at) => expected(at)));
    expect(engines.map(({ started }) => started.length > 0)).toEqual([true, true]);
    expect(engines.flatMap(({ started }) => started).length).toBe(12);
    expect(engine.machines().map(({ machine, pool, problem }) => [machine, pool, problem])).toEqual([
      ["gpu.pod-1", "gpu", null],
      ["gpu.pod-2", "gpu", null],
    ]);
  });

  test.concurrent("works next to a worker with a certificate of its own and to another pool", async () => {
    await using fleet = await start();
    const { engine } = await fleet.coordinator(false);
    const engines = new Map<string, ScriptedEngine>();
    for (const machine of ["w1", "gpu.a", "cpu.a"]) {
      engines.set(machine, new ScriptedEngine(1, () => Bun.sleep(50)));
      await fleet.worker(machine, engines.get(machine));
    }
    await present(engine, 3);
    // The queue of a pool is opened when its first worker reports.
    const isIdle = () => [...engines.values()].some(({ started }) => started.length === 0);
    for (let round = 0; round === 0 || isIdle(); round++) {
      const results = await Promise.all(Array.from({ length: 18 }, (_, at) => fleet.ask(engine, at)));
      expect(results.map(textOf)).toEqual(Array.from({ length: 18 }, (_, at) => expected(at)));
    }
    const { machines } = await fleetStatus(await fleet.connect("coordinator"), { version: "1", build }, Date.now);
    expect(machines.map(({ machine, pool }) => [machine, pool])).toEqual([
      ["cpu.a", "cpu"],
      ["gpu.a", "gpu"],
      ["w1", ""],
    ]);
  });

  test.concurrent("gives the operations of a worker that is lost to the pool's other workers", async () => {
    await using fleet = await start();
    const { engine } = await fleet.coordinator(false);
    const lost = await fleet.connect("gpu.lost");
    await fleet.worker("gpu.lost", new ScriptedEngine(1, untilAborted), { broker: lost });
    await present(engine, 1);
    const running = fleet.ask(engine, 3);
    while (engine.machines()[0]?.busy !== 1) await Bun.sleep(20);
    await lost.close();
    await fleet.worker("gpu.other");
    expect(textOf(await running)).toBe(expected(3));
  });

  test.concurrent("is refused as a whole when it was revoked, from the reload on", async () => {
    await using fleet = await start();
    const before = join(fleet.directory, "before");
    cpSync(join(fleet.path ?? "", "gpu"), join(before, "gpu"), { recursive: true });
    const connections = await Promise.all(
      ["gpu.a", "gpu.b"].map((machine) => fleet.intrude(machine, filesOf(before, machine))),
    );
    FleetDirectory.open(fleet.path ?? "").revoke("gpu");
    fleet.broker.reload();
    await Promise.all(connections.map((connection) => connection.closed()));
    const again = fleet.connect("gpu.c", filesOf(before, "gpu.c"));
    await expect(again).rejects.toThrow("has no user for this machine's certificate");
  });

  test.concurrent("can be added to a fleet that runs, without a restart of the coordinator", async () => {
    await using fleet = await ScriptedFleet.start(program, ["w1"]);
    const { engine } = await fleet.coordinator(false);
    await FleetDirectory.open(fleet.path ?? "").add({ pools: ["late"] }, Date.now());
    fleet.broker.reload();
    await untilAccepted(() => fleet.worker("late.a"));
    expect(textOf(await fleet.ask(engine, 5))).toBe(expected(5));
  });

  test.concurrent("is not known to a broker with the nats.conf of an earlier version, which still serves other workers", async () => {
    await using fleet = await ScriptedFleet.start(program, ["w1"]);
    const path = join(fleet.path ?? "", "broker", "nats.conf");
    const former = readFileSync(path, "utf8").replace(/,?\s*"transcribe\.presence\.\*\.\*"/, "");
    writeFileSync(path, former);
    fleet.broker.reload();
    const thief = await fleet.intrude("coordinator");
    await untilAccepted(async () => {
      const refused = refusals(thief, 1);
      thief.subscribe("transcribe.presence.*.*", { callback: () => {} });
      if ((await Promise.race([refused, Bun.sleep(100)])) === undefined) throw new Error("not reloaded");
    });
    const { engine } = await fleet.coordinator(false);
    await fleet.worker("w1");
    expect(textOf(await fleet.ask(engine, 5))).toBe(expected(5));
    const { machines } = await fleetStatus(await fleet.connect("coordinator"), { version: "1", build }, Date.now);
    expect(machines.map(({ machine }) => machine)).toEqual(["w1"]);
  });

  test.concurrent("whose certificate was stolen neither reads nor publishes what is not its own", async () => {
    await using fleet = await start();
    const owner = await fleet.connect("coordinator");
    for (const pool of ["", "gpu", "cpu"]) await owner.streamOf(pool).reset();
    const connection = await fleet.intrude("gpu.thief");
    const streams = ["TRANSCRIBE_WORK", "TRANSCRIBE_WORK_cpu"];
    const publish = [
      ...[
        "transcribe.presence.gpu",
        "transcribe.presence.w1",
        "transcribe.presence.cpu.a",
        "transcribe.presence.gpu.a.b",
      ],
      ...["started", "result"].flatMap((kind) => ["w1", "gpu", "cpu.a"].map((name) => `transcribe.${kind}.c1.${name}`)),
      ...["transcribe.work.test.none", "transcribe.pool.gpu.test.none", "transcribe.pool.cpu.test.none"],
      ...["transcribe.cancel.c1", "transcribe.status.gpu", "_INBOX.coordinator.x", "_INBOX.w1.x", "_INBOX.gpu.a.x"],
      ...streams.flatMap((stream) => [
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.work-test-none`,
        `$JS.API.CONSUMER.INFO.${stream}.work-test-none`,
        `$JS.ACK.${stream}.work-test-none.1.1.1.1.0`,
      ]),
      ...["TRANSCRIBE_WORK_gpu", ...streams].flatMap((stream) => [
        ...["CREATE", "UPDATE", "DELETE", "PURGE", "MSG.GET", "INFO"].map((each) => `$JS.API.STREAM.${each}.${stream}`),
        ...["CREATE", "DELETE"].map((each) => `$JS.API.CONSUMER.${each}.${stream}.own`),
        `$JS.API.DIRECT.GET.${stream}`,
      ]),
    ];
    const subscribe = [
      ...["transcribe.work.>", "transcribe.pool.>", "transcribe.pool.gpu.>", "transcribe.started.>"],
      ...["transcribe.result.>", "transcribe.presence.>", "transcribe.status.*", "transcribe.>", ">", "$SYS.>"],
      ...["_INBOX.>", "_INBOX.w1.>", "_INBOX.cpu.>", "_INBOX.cpu.a.>", "_INBOX.coordinator.>", "_INBOX.*.>"],
    ];
    await expectRefused(connection, publish, subscribe);
  });

  test.concurrent("whose certificate was stolen gets no operation of another pool, however it asks for it", async () => {
    await using fleet = await start();
    const { engine } = await fleet.coordinator(false);
    const working = new ScriptedEngine(1, () => Bun.sleep(3000));
    await fleet.worker("cpu.a", working);
    await present(engine, 1);
    const thief = await fleet.intrude("gpu.thief");
    const seen: string[] = [];
    for (const subject of ["_INBOX.gpu.*.>", "transcribe.cancel.>"]) {
      thief.subscribe(subject, { callback: (_, message) => void seen.push(message.subject) });
    }
    const running = Promise.all([fleet.ask(engine, 1), fleet.ask(engine, 2)]);
    const request = encode({ batch: 10, expires: 2_000_000_000 });
    for (const stream of ["TRANSCRIBE_WORK", "TRANSCRIBE_WORK_cpu", "TRANSCRIBE_WORK_gpu"]) {
      for (const name of ["none", model.sha256]) {
        const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.work-${build}-${name}`;
        thief.publish(subject, request, { reply: "_INBOX.gpu.thief.parts" });
      }
      // Returned by somebody else, the operation would be delivered to the thief.
      thief.publish(`$JS.ACK.${stream}.work-${build}-${model.sha256}.1.1.1.1.0`, "-NAK");
    }
    expect((await running).map(textOf)).toEqual([expected(1), expected(2)]);
    expect(working.started.toSorted()).toEqual(["transcribe part1", "transcribe part2"]);
    expect(seen.filter((subject) => subject.startsWith("transcribe"))).toEqual([]);
    expect(engine.counts).toMatchObject({ redelivered: 0, lateResults: 0, unreported: 0 });
  });

  test.concurrent("counts at most 500 workers, whatever names a stolen certificate invents", async () => {
    await using fleet = await start();
    const { engine } = await fleet.coordinator(false);
    const thief = await fleet.intrude("gpu.thief");
    for (let at = 0; at < 600; at++) thief.publish(subjects.presence(`gpu.n${at}`), presenceOf(`gpu.n${at}`));
    for (const name of ["gpu.a.b", "w1", "gpu.", "gpu", "cpu.x", "gpu.\u0000"]) {
      thief.publish(subjects.presence("gpu.liar"), presenceOf(name));
    }
    await thief.flush();
    await fleet.worker("w1");
    while (!engine.machines().some(({ machine }) => machine === "w1")) await Bun.sleep(20);
    const machines = engine.machines().map(({ machine }) => machine);
    expect([machines.length, machines.filter((machine) => !/^gpu\.n\d+$/.test(machine))]).toEqual([501, ["w1"]]);
  });

  test.concurrent.each([
    ["w1", "gpu", 'is for the pool "gpu", and this machine\'s settings name no pool; set fleet.pool = "gpu"'],
    ["cpu.a", "gpu", 'is for the pool "gpu", and this machine is of the pool "cpu"'],
    ["gpu.a", "w1", 'is for the machine "w1", and this machine is of the pool "gpu"'],
  ])("refuses for %s the certificate of %s at the start, and says what to set", async (machine, other, reason) => {
    await using fleet = await start();
    const { ca, certificate, key } = fleet.filesOf(other);
    await expect(fleet.connect(machine, { ca, certificate, key })).rejects.toThrow(reason);
  });

  test.concurrent("gives a connection without its certificate nothing", async () => {
    await using fleet = await start();
    const tls = { caFile: fleet.filesOf("gpu.a").ca };
    await expect(connect({ servers: fleet.broker.url, tls, reconnect: false })).rejects.toThrow();
  });
});

/** Repeats a connection until the broker has reloaded its settings. */
async function untilAccepted<T>(connect: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await connect();
    } catch (error) {
      if (attempt === 50) throw error;
      await Bun.sleep(100);
    }
  }
}
