import { beforeEach, describe, expect, test } from "bun:test";
import pino from "pino";
import { type Engine, EngineCrashError, EngineKilledError } from "../../src/engine/index.ts";
import { countAttempts } from "../../src/pipeline/count-attempts.ts";
import { SuspendError } from "../../src/queue/index.ts";
import { Checkpoints } from "../../src/recordings/index.ts";
import { createLogger, type Logger } from "../../src/telemetry/index.ts";
import { storedRecording } from "./step-context.ts";

type Tries = NonNullable<Parameters<Engine["run"]>[3]>;
/** Behaviour of a worker at an operation. */
type Act = (tries: Tries, signal: AbortSignal) => Promise<void> | void;

const never = new AbortController().signal;
const plan = (path: string) => ({ area: { directory: "/", pcm: { path, sampleCount: 1 } } });
const killed = new Error("the server was killed here");

describe("the count of attempts at an operation", () => {
  let stored: ReturnType<typeof storedRecording>;
  /** The crashes that were passed to the engine, for each operation. */
  let passedCrashes: number[];
  beforeEach(() => {
    stored = storedRecording();
    passedCrashes = [];
  });

  /** Returns the engine of a server that has just started on the database. */
  const server = (act: Act, log: Logger = createLogger("silent")) => {
    const run: Engine["run"] = async (_operation, _params, signal, tries) => {
      if (tries === null || tries === undefined) throw new Error("no attempts are stored for this operation");
      passedCrashes.push(tries.crashes);
      await act(tries, signal);
      return { chunks: [] } as never;
    };
    const { id, store } = stored;
    const options = { recordingId: id, checkpoints: new Checkpoints(store, id), log, countPart };
    return countAttempts({ run, partsAtOnce: 1 }, { ...options, pauseMilliseconds: 5 });
  };
  const countPart = (machine: string) => stored.recordings.rows.countPart(stored.id, machine);
  const done: Act = (tries) => tries.onStart();
  const crashesOnce: Act = (tries) => {
    tries.onStart();
    tries.onInterrupted("crashed");
    tries.onStart();
    throw killed;
  };
  const isKilled: Act = (tries) => {
    tries.onStart();
    throw killed;
  };
  const runOn = (act: Act, path = "a") => server(act).run("planChunks", plan(path), never);

  test("is known to the next server, with the workers that it crashed", async () => {
    await runOn(crashesOnce).catch(() => {});
    await runOn(crashesOnce).catch(() => {});
    await runOn(done);
    expect(passedCrashes).toEqual([0, 1, 2]);
  });

  test("logs the machine of a fleet that completed an operation", async () => {
    const lines: string[] = [];
    const log = pino({ level: "debug" }, { write: (line) => lines.push(line) });
    const completes: Act = (tries) => tries.onCompletedBy?.("w1");
    await server(completes, log).run("planChunks", plan("a"), never);
    const expected = { event: "recording.operation_finished", operation: "planChunks", machine: "w1" };
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ ...expected, recordingId: stored.id }]);
  });

  test("counts the parts of each machine of a fleet, until the recording ends", async () => {
    const completedBy = (machine: string) => server((tries) => tries.onCompletedBy?.(machine));
    for (const [part, machine] of ["w1", "own", "w1"].entries())
      await completedBy(machine).run("planChunks", plan(`${part}`), never);
    await runOn(done);
    const expected = [
      { machine: "own", parts: 1 },
      { machine: "w1", parts: 2 },
    ];
    const { recordings, id } = stored;
    expect(recordings.rows.machinesOf(id)).toEqual(expected);
    recordings.fail(id, { reason: "internal", cause: "cancelled" });
    countPart("w1");
    expect(recordings.rows.machinesOf(id)).toEqual(expected);
  });

  test("belongs to one operation with its parameters; another starts at zero", async () => {
    await runOn(crashesOnce).catch(() => {});
    await runOn(done, "b");
    await server(done).run("detectBlock", { ...plan("a"), block: 0 }, never);
    expect(passedCrashes).toEqual([0, 0, 0]);
  });

  test("is kept separately for concurrent operations, whichever ends first", async () => {
    const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ends: Act = async (tries) => {
      tries.onStart();
      tries.onInterrupted("crashed");
      tries.onStart();
      await both[passedCrashes.length - 1]?.promise;
    };
    const first = server(ends);
    const running = ["a", "b"].map((path) => first.run("planChunks", plan(path), never));
    both[0]?.resolve();
    await running[0];
    const third = first.run("planChunks", plan("c"), never);
    both[1]?.reject(killed);
    await expect(running[1]).rejects.toBe(killed);
    await third;
    await runOn(done, "c");
    await runOn(done, "b");
    await runOn(done, "d");
    expect(passedCrashes).toEqual([0, 0, 0, 0, 1, 0]);
  });

  test("makes an operation fail that repeatedly stops the server, after pauses", async () => {
    for (let count = 0; count < 6; count++) await expect(runOn(isKilled)).rejects.toBe(killed);
    await expect(runOn(done)).rejects.toBeInstanceOf(EngineCrashError);
    expect(passedCrashes).toHaveLength(6);
  });

  test("includes workers killed from outside: the operation is retried after a pause, but not forever", async () => {
    const isKilledThrice: Act = (tries) => {
      for (let count = 0; count < 3; count++) {
        tries.onStart();
        tries.onInterrupted("killed");
      }
      throw new EngineKilledError("killed");
    };
    const twice = runOn(isKilledThrice);
    await expect(twice).rejects.toBeInstanceOf(EngineCrashError);
    await expect(twice).rejects.not.toBeInstanceOf(EngineKilledError);
    expect(passedCrashes).toEqual([0, 0]);
    let tried = 0;
    await runOn((tries, signal) => (++tried === 1 ? isKilledThrice(tries, signal) : done(tries, signal)), "b");
    expect(tried).toBe(2);
  });

  test("never makes an operation fail that succeeds each time", async () => {
    const engine = server(crashesOnce);
    await engine.run("planChunks", plan("a"), never).catch(() => {});
    const goes = server(done);
    for (let count = 0; count < 10; count++) await goes.run("planChunks", plan("a"), never);
    expect(passedCrashes).toEqual([0, 1, ...Array(9).fill(0)]);
  });

  test("includes neither suspensions nor kills before the worker has started the operation", async () => {
    for (let count = 0; count < 12; count++) {
      const stopping = new AbortController();
      const parked = server((tries, signal) => {
        tries.onStart();
        stopping.abort(new SuspendError(0));
        signal.throwIfAborted();
      });
      await expect(parked.run("planChunks", plan("a"), stopping.signal)).rejects.toBeInstanceOf(SuspendError);
      // No worker has started it yet.
      await expect(runOn(() => Promise.reject(killed))).rejects.toBe(killed);
    }
    await runOn(done);
  });

  test("does not delay the suspension of a recording that waits in a pause", async () => {
    for (let count = 0; count < 3; count++) await runOn(isKilled).catch(() => {});
    const stopping = new AbortController();
    const waiting = server(done).run("planChunks", plan("a"), stopping.signal);
    stopping.abort(new SuspendError(10_000));
    await expect(waiting).rejects.toBeInstanceOf(SuspendError);
  });
});

describe("when the server stops", () => {
  const parts = () => {
    const { id: recordingId, checkpoints } = storedRecording();
    return { recordingId, checkpoints, log: createLogger("silent"), countPart: () => {} };
  };
  /** Returns an engine whose worker takes this long and stops at the signal. */
  const engine = (begins: boolean, milliseconds: number): Pick<Engine, "run" | "partsAtOnce"> => ({
    partsAtOnce: 1,
    run: async (_operation, _params, signal, tries) => {
      if (begins) tries?.onStart();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => reject(signal.reason));
      setTimeout(resolve, milliseconds);
      await promise;
      return { chunks: [] } as never;
    },
  });

  test("a recording whose worker is killed meanwhile does not wait for its next attempt", async () => {
    const stopping = new AbortController();
    const run: Engine["run"] = async (_operation, _params, _signal, tries) => {
      stopping.abort(new SuspendError(10_000));
      for (let count = 0; count < 3; count++) {
        tries?.onStart();
        tries?.onInterrupted("killed");
      }
      throw new EngineKilledError("killed");
    };
    const running = countAttempts({ run, partsAtOnce: 1 }, parts()).run("planChunks", plan("a"), stopping.signal);
    await expect(running).rejects.toBeInstanceOf(SuspendError);
  });

  test.each([
    ["an operation that the worker has started finishes", true, 20, new SuspendError(10_000), true],
    ["an operation that waits for the worker is abandoned", false, 20, new SuspendError(10_000), false],
    ["an operation that exceeds the grace time is aborted", true, 10_000, new SuspendError(20), false],
    ["an operation of a recording that a command ended is aborted at once", true, 10_000, new Error("ended"), false],
  ] as const)("%s", async (_name, begins, milliseconds, reason, finished) => {
    const stopping = new AbortController();
    const result = countAttempts(engine(begins, milliseconds), parts()).run("planChunks", plan("a"), stopping.signal);
    const outcome = result.then(
      () => true,
      (error: unknown) => error,
    );
    stopping.abort(reason);
    expect(await outcome).toBe(finished ? true : reason);
  });
});
