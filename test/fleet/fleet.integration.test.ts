import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { killedWithParent } from "../../harness/server.ts";
import { EngineCrashError } from "../../src/engine/index.ts";
import { notedRecord } from "../support/scripted-engine.ts";
import {
  build,
  expected,
  model,
  present,
  ScriptedEngine,
  ScriptedFleet,
  textOf,
  untilAborted,
} from "../support/scripted-fleet.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("tests of the fleet with a real broker");

/** Each test has a broker of its own, so that all of them wait at the same time. */
describe.skipIf(program === null)("a fleet", () => {
  /** A worker whose operations take ten times as long as their audio, in a process of its own. */
  function scriptedProcess(fleet: ScriptedFleet, machine: string) {
    const script = join(root, "tools/bench/scripted-worker.ts");
    const args = [join(fleet.directory, machine), fleet.broker.url, machine, build, model.sha256, "0.1"];
    const child = Bun.spawn(killedWithParent([process.execPath, "--no-env-file", script, ...args]), {
      stdio: ["ignore", "inherit", "inherit"],
    });
    fleet.defer(() => {
      child.kill("SIGKILL");
      return child.exited;
    });
    return child;
  }

  test.concurrent("runs each operation once, on any machine, with the samples of its span", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine, local } = await fleet.coordinator(true);
    const others = [new ScriptedEngine(2), new ScriptedEngine(2)];
    await Promise.all(others.map((other, index) => fleet.worker(`w${index}`, other)));
    await present(engine, 2);
    const results = await Promise.all(Array.from({ length: 40 }, (_, at) => fleet.ask(engine, at)));
    expect(results.map(textOf)).toEqual(results.map((_, at) => expected(at)));
    const started = [local, ...others].flatMap((each) => each.started);
    expect(started.toSorted()).toEqual(results.map((_, at) => `transcribe part${at}`).toSorted());
    for (const each of [local, ...others]) expect(each.started.length).toBeGreaterThan(2);
    while (readdirSync(join(fleet.directory, "w0")).length > 0) await Bun.sleep(10);
  });

  test.concurrent("names the machine that completed an operation, also the coordinator's own", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const own = await fleet.coordinator(true);
    const completed: string[] = [];
    const record = { ...notedRecord(), onCompletedBy: (machine: string) => void completed.push(machine) };
    await fleet.ask(own.engine, 0, { record });
    expect(completed).toEqual(["own"]);
    const { engine } = await fleet.coordinator(false);
    await fleet.worker("w1");
    await fleet.ask(engine, 0, { record });
    expect(completed).toEqual(["own", "w1"]);
  });

  test.concurrent("a cancelled operation is cancelled on its worker too, within two seconds", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    const other = new ScriptedEngine();
    const aborted = Promise.withResolvers<void>();
    other.behave = (language, signal) => {
      signal.addEventListener("abort", () => aborted.resolve());
      return untilAborted(language, signal);
    };
    await fleet.worker("w0", other);
    const cancel = new AbortController();
    const running = fleet.ask(engine, 1, { signal: cancel.signal });
    while (other.started.length === 0) await Bun.sleep(10);
    const cancelledAt = performance.now();
    cancel.abort(new Error("no longer wanted"));
    await expect(running).rejects.toThrow("no longer wanted");
    await aborted.promise;
    expect(performance.now() - cancelledAt).toBeLessThan(2000);
    other.behave = () => Bun.sleep(1);
    expect(textOf(await fleet.ask(engine, 2))).toBe(expected(2));
  });

  test.concurrent("an operation that crashes a worker's engine for good fails like on this machine", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    const other = new ScriptedEngine(1, () =>
      Promise.reject(new EngineCrashError("the worker crashed 3 times while running transcribe")),
    );
    await fleet.worker("w0", other);
    await expect(fleet.ask(engine, 1)).rejects.toThrow(EngineCrashError);
  });

  test.concurrent("a worker of another build gets no operations, and coordinator and worker say what to do", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine, local } = await fleet.coordinator(true);
    const other = new ScriptedEngine(4);
    const idle = await fleet.worker("w0", other, { build: "older" });
    while (engine.machines().length < 1 || idle.trouble === null) await Bun.sleep(10);
    expect(idle.trouble).toContain("no coordinator of this build uses the broker; start it");
    expect(engine.machines()[0]?.problem).toContain(
      "another build of version 1 (older) than the coordinator (test); install",
    );
    await Promise.all(Array.from({ length: 5 }, (_, at) => fleet.ask(engine, at)));
    expect([local.started.length, other.started.length]).toEqual([5, 0]);
  });

  test.concurrent("a worker that stops returns its operations at once, and another one runs them", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    const first = new ScriptedEngine(2, untilAborted);
    const leaving = await fleet.worker("w0", first);
    const running = [fleet.ask(engine, 1), fleet.ask(engine, 2)];
    while (first.started.length < 2) await Bun.sleep(10);
    await fleet.worker("w1", new ScriptedEngine(2));
    await leaving.stop();
    expect((await Promise.all(running)).map(textOf)).toEqual([expected(1), expected(2)]);
  });

  test.concurrent("the operations of a killed and of a stopped worker run elsewhere, and late results are refused", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    // Operations of one second take ten, and a process of its own can be killed.
    const lost = ["killed", "stopped"].map((machine) => scriptedProcess(fleet, machine));
    await present(engine, 2);
    const running = [fleet.ask(engine, 1), fleet.ask(engine, 2)];
    const isRunning = () => engine.machines().filter(({ busy }) => busy === 1).length === 2;
    while (!isRunning()) await Bun.sleep(20);
    lost[0]?.kill("SIGKILL");
    lost[1]?.kill("SIGSTOP");
    await fleet.worker("w0", new ScriptedEngine(2));
    expect((await Promise.all(running)).map(textOf)).toEqual([expected(1), expected(2)]);
    expect(engine.load()).toMatchObject({ waiting: 0, published: 0 });
    lost[1]?.kill("SIGCONT");
    while (engine.counts.lateResults === 0) await Bun.sleep(20);
    // The results of a simulated worker have no words.
    lost[1]?.kill("SIGKILL");
    await lost[1]?.exited;
    expect(textOf(await fleet.ask(engine, 3))).toBe(expected(3));
  });

  test.concurrent("the coordinator continues alone while the broker is away, and uses the workers again afterwards", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine, local } = await fleet.coordinator(true);
    const other = new ScriptedEngine(2);
    await fleet.worker("w0", other);
    await present(engine, 1);
    local.behave = () => Bun.sleep(100);
    other.behave = () => Bun.sleep(100);
    const running = Array.from({ length: 12 }, (_, at) => fleet.ask(engine, at));
    while (other.started.length === 0) await Bun.sleep(10);
    await fleet.broker.stop();
    expect((await Promise.all(running)).map(textOf)).toEqual(running.map((_, at) => expected(at)));
    await fleet.broker.start();
    const before = other.started.length;
    while (other.started.length === before)
      await Promise.all(Array.from({ length: 6 }, (_, at) => fleet.ask(engine, at)));
  });

  test.concurrent("operations that only workers may run are published again after the broker was away", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    const other = new ScriptedEngine();
    await fleet.worker("w0", other);
    other.behave = () => Bun.sleep(200);
    const running = Array.from({ length: 4 }, (_, at) => fleet.ask(engine, at));
    while (other.started.length === 0) await Bun.sleep(10);
    await fleet.broker.stop();
    await fleet.broker.start();
    expect((await Promise.all(running)).map(textOf)).toEqual(running.map((_, at) => expected(at)));
  });

  test.concurrent("an operation whose attempt cannot be recorded fails with that error", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    const other = new ScriptedEngine();
    await fleet.worker("w0", other);
    const onStart = () => {
      throw new Error("the disk is full");
    };
    const record = { ...notedRecord(), onStart };
    await expect(fleet.ask(engine, 1, { record })).rejects.toThrow("the disk is full");
    expect([other.started, engine.load().published]).toEqual([[], 0]);
    expect(textOf(await fleet.ask(engine, 2))).toBe(expected(2));
  });

  test.concurrent("a coordinator that stops rejects the operations that workers run", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    const other = new ScriptedEngine(1, untilAborted);
    await fleet.worker("w0", other);
    const running = [fleet.ask(engine, 1), fleet.ask(engine, 2), fleet.ask(engine, 3)];
    while (other.started.length === 0) await Bun.sleep(10);
    engine.close();
    const outcomes = await Promise.allSettled(running);
    expect(outcomes.map((outcome) => outcome.status === "rejected" && String(outcome.reason))).toEqual(
      running.map(() => "EngineOperationError: the engine is closed"),
    );
  });

  test.concurrent("the broker stores no samples in files", async () => {
    await using fleet = await ScriptedFleet.start(program);
    const { engine } = await fleet.coordinator(false);
    await fleet.worker("w0");
    expect(textOf(await fleet.ask(engine, 1))).toBe(expected(1));
    const store = join(fleet.broker.directory, "store");
    const files = readdirSync(store, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.filter(({ name }) => name.endsWith(".blk"))).toEqual([]);
  });
});
