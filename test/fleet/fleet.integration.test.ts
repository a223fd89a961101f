import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { killedWithParent } from "../../harness/server.ts";
import { EngineCrashError } from "../../src/engine/index.ts";
import { build, expected, model, ScriptedEngine, ScriptedFleet, textOf, untilAborted } from "./scripted-fleet.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("tests of the fleet with a real broker");

describe.skipIf(program === null)("a fleet", () => {
  let fleet: ScriptedFleet;
  const coordinator: ScriptedFleet["coordinator"] = (...args) => fleet.coordinator(...args);
  const worker: ScriptedFleet["worker"] = (...args) => fleet.worker(...args);
  const ask: ScriptedFleet["ask"] = (...args) => fleet.ask(...args);

  beforeAll(async () => {
    fleet = await ScriptedFleet.start(program ?? "");
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  /** A worker whose operations take ten times as long as their audio, in a process of its own. */
  function scriptedProcess(fleet: ScriptedFleet, machine: string, stack: AsyncDisposableStack) {
    const script = join(root, "tools/bench/scripted-worker.ts");
    const args = [join(fleet.directory.path, machine), fleet.broker.url, machine, build, model.sha256, "0.1"];
    const child = Bun.spawn(killedWithParent([process.execPath, "--no-env-file", script, ...args]), {
      stdio: ["ignore", "inherit", "inherit"],
    });
    stack.defer(async () => {
      child.kill("SIGKILL");
      await child.exited;
    });
    return child;
  }

  test("runs each operation once, on any machine, with the samples of its span", async () => {
    await using stack = new AsyncDisposableStack();
    const { engine, local } = await coordinator(true, stack);
    const others = [new ScriptedEngine(2), new ScriptedEngine(2)];
    await Promise.all(others.map((other, index) => worker(`w${index}`, other, stack)));
    while (engine.machines().length < 2) await Bun.sleep(10);
    const results = await Promise.all(Array.from({ length: 40 }, (_, at) => ask(engine, at)));
    expect(results.map(textOf)).toEqual(results.map((_, at) => expected(at)));
    const started = [local, ...others].flatMap((each) => each.started);
    expect(started.toSorted()).toEqual(results.map((_, at) => `transcribe part${at}`).toSorted());
    for (const each of [local, ...others]) expect(each.started.length).toBeGreaterThan(2);
    while (readdirSync(join(fleet.directory.path, "w0")).length > 0) await Bun.sleep(10);
  });

  test("names the machine that completed an operation, also the coordinator's own", async () => {
    await using stack = new AsyncDisposableStack();
    const own = await coordinator(true, stack);
    const machines: string[] = [];
    const record = {
      crashes: 0,
      onStart: () => {},
      onInterrupted: () => {},
      onCompletedBy: (machine: string) => void machines.push(machine),
    };
    await ask(own.engine, 0, undefined, record);
    expect(machines).toEqual(["own"]);
    const { engine } = await coordinator(false, stack);
    await worker("w1", new ScriptedEngine(1), stack);
    await ask(engine, 0, undefined, record);
    expect(machines).toEqual(["own", "w1"]);
  });

  test("a cancelled operation is cancelled on its worker too, within two seconds", async () => {
    await using stack = new AsyncDisposableStack();
    const { engine } = await coordinator(false, stack);
    const other = new ScriptedEngine(1);
    const aborted = Promise.withResolvers<void>();
    other.behave = (language, signal) => {
      signal.addEventListener("abort", () => aborted.resolve());
      return untilAborted(language, signal);
    };
    await worker("w0", other, stack);
    const cancel = new AbortController();
    const running = ask(engine, 1, cancel.signal);
    while (other.started.length === 0) await Bun.sleep(10);
    const cancelledAt = performance.now();
    cancel.abort(new Error("no longer wanted"));
    await expect(running).rejects.toThrow("no longer wanted");
    await aborted.promise;
    expect(performance.now() - cancelledAt).toBeLessThan(2000);
    other.behave = () => Bun.sleep(1);
    expect(textOf(await ask(engine, 2))).toBe(expected(2));
  });

  test("an operation that crashes a worker's engine for good fails like on this machine", async () => {
    await using stack = new AsyncDisposableStack();
    const { engine } = await coordinator(false, stack);
    const other = new ScriptedEngine(1);
    other.behave = () => Promise.reject(new EngineCrashError("the worker crashed 3 times while running transcribe"));
    await worker("w0", other, stack);
    await expect(ask(engine, 1)).rejects.toThrow(EngineCrashError);
  });

  test("a worker of another build gets no operations, and coordinator and worker say what to do", async () => {
    await using stack = new AsyncDisposableStack();
    const { engine, local } = await coordinator(true, stack);
    const other = new ScriptedEngine(4);
    const idle = await worker("w0", other, stack, { ownBuild: "older" });
    while (engine.machines().length < 1 || idle.trouble === null) await Bun.sleep(10);
    expect(idle.trouble).toContain("no coordinator of this build uses the broker; start it");
    expect(engine.machines()[0]?.problem).toContain(
      "another build of version 1 (older) than the coordinator (test); install",
    );
    await Promise.all(Array.from({ length: 5 }, (_, at) => ask(engine, at)));
    expect([local.started.length, other.started.length]).toEqual([5, 0]);
  });

  test("a worker that stops returns its operations at once, and another one runs them", async () => {
    await using stack = new AsyncDisposableStack();
    const { engine } = await coordinator(false, stack);
    const first = new ScriptedEngine(2);
    first.behave = untilAborted;
    const leaving = await worker("w0", first, stack);
    const running = [ask(engine, 1), ask(engine, 2)];
    while (first.started.length < 2) await Bun.sleep(10);
    await worker("w1", new ScriptedEngine(2), stack);
    await leaving.stop();
    expect((await Promise.all(running)).map(textOf)).toEqual([expected(1), expected(2)]);
  });

  // The next three tests have brokers of their own, so that they wait at the same time.

  test.concurrent("the operations of a killed and of a stopped worker run elsewhere, and late results are refused", async () => {
    await using fleet = await ScriptedFleet.start(program ?? "");
    await using stack = new AsyncDisposableStack();
    const { engine } = await fleet.coordinator(false, stack);
    // Operations of one second take ten, and a process of its own can be killed.
    const lost = ["killed", "stopped"].map((machine) => scriptedProcess(fleet, machine, stack));
    while (engine.machines().length < 2) await Bun.sleep(20);
    const running = [fleet.ask(engine, 1), fleet.ask(engine, 2)];
    const isRunning = () => engine.machines().filter(({ busy }) => busy === 1).length === 2;
    while (!isRunning()) await Bun.sleep(20);
    lost[0]?.kill("SIGKILL");
    lost[1]?.kill("SIGSTOP");
    await fleet.worker("w0", new ScriptedEngine(2), stack);
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
    await using fleet = await ScriptedFleet.start(program ?? "");
    await using stack = new AsyncDisposableStack();
    const { engine, local } = await fleet.coordinator(true, stack);
    const other = new ScriptedEngine(2);
    await fleet.worker("w0", other, stack);
    while (engine.machines().length < 1) await Bun.sleep(10);
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
    await using fleet = await ScriptedFleet.start(program ?? "");
    await using stack = new AsyncDisposableStack();
    const { engine } = await fleet.coordinator(false, stack);
    const other = new ScriptedEngine(1);
    await fleet.worker("w0", other, stack);
    other.behave = () => Bun.sleep(200);
    const running = Array.from({ length: 4 }, (_, at) => fleet.ask(engine, at));
    while (other.started.length === 0) await Bun.sleep(10);
    await fleet.broker.stop();
    await fleet.broker.start();
    expect((await Promise.all(running)).map(textOf)).toEqual(running.map((_, at) => expected(at)));
  });

  test("an operation whose attempt cannot be recorded fails with that error", async () => {
    await using stack = new AsyncDisposableStack();
    const { engine } = await coordinator(false, stack);
    const other = new ScriptedEngine(1);
    await worker("w0", other, stack);
    const record = {
      crashes: 0,
      onStart: () => {
        throw new Error("the disk is full");
      },
      onInterrupted: () => {},
    };
    await expect(ask(engine, 1, undefined, record)).rejects.toThrow("the disk is full");
    expect([other.started, engine.load().published]).toEqual([[], 0]);
    expect(textOf(await ask(engine, 2))).toBe(expected(2));
  });

  test("a coordinator that stops rejects the operations that workers run", async () => {
    await using stack = new AsyncDisposableStack();
    const { engine } = await coordinator(false, stack);
    const other = new ScriptedEngine(1);
    other.behave = untilAborted;
    await worker("w0", other, stack);
    const running = [ask(engine, 1), ask(engine, 2), ask(engine, 3)];
    while (other.started.length === 0) await Bun.sleep(10);
    engine.close();
    const outcomes = await Promise.allSettled(running);
    expect(outcomes.map((outcome) => outcome.status === "rejected" && String(outcome.reason))).toEqual(
      running.map(() => "EngineOperationError: the engine is closed"),
    );
  });

  test("the broker stores no samples in files", async () => {
    const store = join(fleet.broker.directory, "store");
    const files = readdirSync(store, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.filter(({ name }) => name.endsWith(".blk"))).toEqual([]);
  });
});
