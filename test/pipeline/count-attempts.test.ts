import { beforeEach, describe, expect, test } from "bun:test";
import { createAccount } from "../../src/accounts/index.ts";
import { type Engine, EngineCrashError, EngineKilledError } from "../../src/engine/index.ts";
import { countAttempts } from "../../src/pipeline/count-attempts.ts";
import { Checkpoints, Recordings, SuspendError } from "../../src/recordings/index.ts";
import { openDatabase, type Store } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { newRecording } from "../support/new-recording.ts";

type Tries = NonNullable<Parameters<Engine["run"]>[3]>;
/** What a worker does with an operation. */
type Act = (tries: Tries, signal: AbortSignal) => Promise<void> | void;

const never = new AbortController().signal;
const plan = (path: string) => ({ area: { directory: "/", pcm: { path, sampleCount: 1 } } });
const killed = new Error("the server was killed here");

describe("how often an operation was tried", () => {
  let store: Store;
  let id: string;
  /** Deaths that the engine was told of, at each operation. */
  let told: number[];
  beforeEach(() => {
    store = openDatabase(":memory:");
    const { id: accountId } = createAccount(store, "acme", { actor: "operator", now: 1 });
    id = Bun.randomUUIDv7();
    new Recordings(store, Date.now).create(newRecording(id, accountId));
    told = [];
  });

  /** A server that has just been started on the database. */
  const server = (act: Act) => {
    const run: Engine["run"] = async (_operation, _params, signal, tries) => {
      if (tries === null || tries === undefined) throw new Error("nothing is kept of this operation");
      told.push(tries.crashes);
      await act(tries, signal);
      return { chunks: [] } as never;
    };
    const options = { recordingId: id, checkpoints: new Checkpoints(store, id), log: createLogger("silent") };
    return countAttempts({ run, partsAtOnce: 1 }, { ...options, pauseMilliseconds: 5 });
  };
  const done: Act = (tries) => tries.onStart();
  const diesOnce: Act = (tries) => {
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

  test("is known to the next server: workers that died of it, too", async () => {
    await runOn(diesOnce).catch(() => {});
    await runOn(diesOnce).catch(() => {});
    await runOn(done);
    expect(told).toEqual([0, 1, 2]);
  });

  test("counts for that operation alone: another begins anew, on other audio, too", async () => {
    await runOn(diesOnce).catch(() => {});
    await runOn(done, "b");
    await server(done).run("detectBlock", { ...plan("a"), block: 0 }, never);
    expect(told).toEqual([0, 0, 0]);
  });

  test("is kept of each of several that are done at once, and of one that ends before another", async () => {
    const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ends: Act = async (tries) => {
      tries.onStart();
      tries.onInterrupted("crashed");
      tries.onStart();
      await both[told.length - 1]?.promise;
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
    expect(told).toEqual([0, 0, 0, 0, 1, 0]);
  });

  test("a server that ends at it again and again gives it up, and takes its time before it does", async () => {
    for (let count = 0; count < 6; count++) await expect(runOn(isKilled)).rejects.toBe(killed);
    await expect(runOn(done)).rejects.toBeInstanceOf(EngineCrashError);
    expect(told).toHaveLength(6);
  });

  test("workers that are killed from outside count as servers that are: tried again after a pause, and not for ever", async () => {
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
    expect(told).toEqual([0, 0]);
    let tried = 0;
    await runOn((tries, signal) => (++tried === 1 ? isKilledThrice(tries, signal) : done(tries, signal)), "b");
    expect(tried).toBe(2);
  });

  test("what is done again and again, and each time to its end, is never given up", async () => {
    const engine = server(diesOnce);
    await engine.run("planChunks", plan("a"), never).catch(() => {});
    const goes = server(done);
    for (let count = 0; count < 10; count++) await goes.run("planChunks", plan("a"), never);
    expect(told).toEqual([0, 1, ...Array(9).fill(0)]);
  });

  test("a server that is killed elsewhere, or that parks it, may do so as often as it likes", async () => {
    for (let count = 0; count < 12; count++) {
      const stopping = new AbortController();
      const parked = server((tries, signal) => {
        tries.onStart();
        stopping.abort(new SuspendError(0));
        signal.throwIfAborted();
      });
      await expect(parked.run("planChunks", plan("a"), stopping.signal)).rejects.toBeInstanceOf(SuspendError);
      // Given to no worker yet.
      await expect(
        runOn(() => {
          throw killed;
        }),
      ).rejects.toBe(killed);
    }
    await runOn(done);
  });

  test("a recording that is suspended while it pauses is left at once", async () => {
    for (let count = 0; count < 3; count++) await runOn(isKilled).catch(() => {});
    const stopping = new AbortController();
    const waiting = server(done).run("planChunks", plan("a"), stopping.signal);
    stopping.abort(new SuspendError(10_000));
    await expect(waiting).rejects.toBeInstanceOf(SuspendError);
  });
});

describe("where the server stops", () => {
  const parts = () => {
    const store = openDatabase(":memory:");
    const { id: accountId } = createAccount(store, "acme", { actor: "operator", now: 1 });
    const id = Bun.randomUUIDv7();
    new Recordings(store, Date.now).create(newRecording(id, accountId));
    return { recordingId: id, checkpoints: new Checkpoints(store, id), log: createLogger("silent") };
  };
  /** An engine whose worker takes so long, and is told to stop by the signal. */
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

  test("a recording whose worker is killed meanwhile does not wait for its next try", async () => {
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
    ["what the worker is at is finished", true, 20, new SuspendError(10_000), true],
    ["what only waits for the worker is left", false, 20, new SuspendError(10_000), false],
    ["what takes longer than there is time is left", true, 10_000, new SuspendError(20), false],
    ["what a command ended is left at once", true, 10_000, new Error("ended by command"), false],
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
