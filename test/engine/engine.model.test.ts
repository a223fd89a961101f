import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import {
  EngineCrashError,
  EngineKilledError,
  EngineStalledError,
  type UnexpectedExit,
} from "../../src/engine/index.ts";
import { TimeLimits } from "../../src/engine/time-limits.ts";
import type { CompletedOperation } from "../../src/operations/index.ts";
import {
  closeEngines,
  never,
  notedRecord,
  pidOf,
  run,
  script,
  scriptedEngine,
  until,
} from "../support/scripted-engine.ts";
import { scriptedStart } from "../support/scripted-start.ts";

const engine: typeof scriptedEngine = (options = {}) => scriptedEngine({ lanes: 2, ...options });
afterEach(closeEngines);

describe("the engine", () => {
  test("returns the worker's results and passes on its errors", async () => {
    const made = engine();
    expect(await run(made, "answer")).toEqual({ chunks: [] });
    expect(run(made, "fail")).rejects.toThrow("as scripted");
  });

  test("lets one recording use all lanes, on the CPU and on a GPU", async () => {
    const gpu = { library: "cuda", label: "CUDA0", name: "a GPU", environment: {} };
    const onCpu = engine({ prepare: async () => [{ ...scriptedStart, lanes: 3 }] });
    const onGpu = engine({ prepare: async () => [{ ...scriptedStart, gpu, lanes: 5 }] });
    await Promise.all([onCpu.ready(), onGpu.ready()]);
    expect([onCpu.partsAtOnce, onGpu.partsAtOnce]).toEqual([3, 5]);
  });

  test("reports requested and expected work as use, but no self-test", async () => {
    let uses = 0;
    const made = engine({ onUse: () => (uses += 1) });
    await made.run("selfTest", {}, never);
    expect(uses).toBe(0);
    made.wake();
    expect(uses).toBe(1);
    await run(made, "answer");
    expect(uses).toBe(2);
  });

  test("reports completed operations, not failed ones, and how a worker exited", async () => {
    const work: CompletedOperation[] = [];
    const exits: (string | null)[] = [];
    const made = engine({
      onCompletion: (done) => work.push(done),
      onUnexpectedExit: ({ signal }) => exits.push(signal),
    });
    await run(made, "answer");
    await run(made, "fail").catch(() => {});
    await run(made, "kill").catch(() => {});
    expect(work).toEqual([{ step: "detect", device: "cpu", gpu: "", seconds: expect.any(Number), audioSeconds: 0 }]);
    expect(work[0]?.seconds).toBeGreaterThan(0);
    expect(exits).toEqual(["SIGKILL", "SIGKILL", "SIGKILL"]);
  });

  test("reports the GPU's memory while its worker runs", async () => {
    const gpu = { library: "cuda", label: "CUDA0", name: "a GPU", environment: {} };
    const made = engine({ prepare: async () => [{ ...scriptedStart, gpu }] });
    await run(made, "answer");
    expect(made.status().workers).toMatchObject([{ gpu, gpuMemory: { freeBytes: 7, totalBytes: 9 } }]);
    const { promise: dead, resolve } = Promise.withResolvers<void>();
    const dying = engine({ onUnexpectedExit: () => resolve() });
    const crashing = dying.run("planChunks", script("kill"), never).catch(() => {});
    await dead;
    expect(dying.status().workers).toMatchObject([{ gpuMemory: null }]);
    await crashing;
  });

  test("adds up the work of the decoder in slots by all processes of a worker", async () => {
    const made = engine({ prepare: async () => [{ ...scriptedStart, lanes: 4, slots: 4 }] });
    await run(made, "answer");
    const decoder = { steps: 2, rows: 9, rowsPerStep: 4.5 };
    expect(made.status().workers).toMatchObject([{ decoderSlots: 4, decoder }]);
    await run(made, "kill").catch(() => {});
    await run(made, "answer");
    const [worker] = made.status().workers;
    expect(worker?.restarts).toBeGreaterThan(1);
    expect(worker?.decoder).toEqual({
      steps: 2 + 2 * (worker?.restarts ?? 0),
      rows: 9 + 9 * (worker?.restarts ?? 0),
      rowsPerStep: 4.5,
    });
  });

  test("reports how many operations wait for a lane, those of the recognizer apart", async () => {
    const made = engine({ lanes: 1 });
    const enough = new AbortController();
    const span = { startSeconds: 0, endSeconds: 1 };
    const chunk = { ...span, speech: [span] };
    const held = [
      run(made, "wait", enough.signal),
      run(made, "answer", enough.signal),
      ...[1, 2].map(() => made.run("detectLanguage", { ...script("answer"), chunk, model: "/" }, enough.signal)),
    ].map((each) => each.catch(() => "stopped"));
    await made.ready();
    expect(made.status().waiting).toEqual({ speech: 2, speakers: 1 });
    enough.abort();
    expect(await Promise.all(held)).toEqual(["stopped", "stopped", "stopped", "stopped"]);
    expect(made.status().waiting).toEqual({ speech: 0, speakers: 0 });
  });

  test("refuses a result that does not match its schema", async () => {
    expect(run(engine(), "nonsense")).rejects.toThrow("does not match its schema");
  });

  test("restarts a crashed worker and retries its operation", async () => {
    using directory = temporaryDirectory();
    const made = engine();
    const result = run(made, `crash-until:2:${join(directory.path, "tries")}`);
    expect(await result).toEqual({ chunks: [] });
    expect(made.status().restarts).toBe(2);
  });

  test("fails an operation that crashes three workers, and completes the others", async () => {
    const made = engine();
    const crashing = run(made, "kill");
    const others = Array.from({ length: 6 }, () => run(made, "answer"));
    expect(crashing).rejects.toBeInstanceOf(EngineCrashError);
    expect(await Promise.all(others)).toEqual(others.map(() => ({ chunks: [] })));
    expect(await run(made, "answer")).toEqual({ chunks: [] });
  });

  test("completes an operation that only ran next to a crashing one", async () => {
    const made = engine({ lanes: 3 });
    await made.ready();
    const settled = await Promise.allSettled([run(made, "kill"), run(made, "kill"), run(made, "answer")]);
    expect(settled.map((outcome) => outcome.status)).toEqual(["rejected", "rejected", "fulfilled"]);
  });

  test("replaces a worker that is killed from outside", async () => {
    const made = engine();
    await made.ready();
    const before = pidOf(made);
    const enough = new AbortController();
    const waiting = run(made, "wait", enough.signal);
    waiting.catch(() => {});
    process.kill(before ?? 0, "SIGKILL");
    expect(await run(made, "answer")).toEqual({ chunks: [] });
    expect(pidOf(made)).not.toBe(before);
    enough.abort();
    await expect(waiting).rejects.toThrow();
  });

  test("starts an operation behind one that must run alone as soon as that one is cancelled", async () => {
    const made = engine();
    await made.ready();
    const [enough, notNow] = [new AbortController(), new AbortController()];
    const others = Promise.allSettled([
      run(made, "wait", enough.signal),
      run(made, "answer", notNow.signal, notedRecord(2)),
    ]);
    const behind = run(made, "answer", AbortSignal.timeout(20_000));
    notNow.abort();
    expect(await behind).toEqual({ chunks: [] });
    enough.abort();
    expect((await others).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  test("rejects an aborted operation at once, whether it waits or runs", async () => {
    const made = engine({ lanes: 1 });
    await made.ready();
    const [first, second] = [new AbortController(), new AbortController()];
    const running = run(made, "wait", first.signal);
    const waiting = run(made, "answer", second.signal);
    second.abort(new Error("not any more"));
    first.abort(new Error("stop"));
    expect(running).rejects.toThrow("stop");
    expect(waiting).rejects.toThrow("not any more");
    await Promise.allSettled([running, waiting]);
  });

  test("reports why it does not start, and starts once the reason is gone", async () => {
    let attempts = 0;
    const made = engine({
      prepare: async () => {
        attempts += 1;
        if (attempts < 5) throw new Error("the model is missing; run scripts/setup");
        return [scriptedStart];
      },
    });
    await until(() => made.status().state === "failing");
    expect(made.status().trouble).toBe("the model is missing; run scripts/setup");
    await made.ready();
    expect(made.status()).toMatchObject({ state: "ready", trouble: null });
  });

  test("aborts the preparation of a worker when it is closed", async () => {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<unknown>();
    const made = engine({
      prepare: (_exit, signal) => {
        begun.resolve();
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            ended.resolve(signal.reason);
            reject(signal.reason);
          });
        });
      },
    });
    await begun.promise;
    await made.close();
    expect(await ended.promise).toBeInstanceOf(DOMException);
    expect(made.status()).toMatchObject({ state: "closed", trouble: null, restarts: 0 });
  });

  test("renews its worker between two operations, so that the running one completes", async () => {
    const pids: number[] = [];
    const made = engine({ lanes: 1 });
    await made.ready();
    const before = pidOf(made);
    const running = run(made, "answer").then(() => pids.push(pidOf(made) ?? 0));
    const waiting = run(made, "answer").then(() => pids.push(pidOf(made) ?? 0));
    made.renewWorkers();
    await Promise.all([running, waiting]);
    expect(pids[0]).toBe(before ?? 0);
    expect(pids[1]).not.toBe(before ?? 0);
    expect(made.status()).toMatchObject({ state: "ready", restarts: 0, trouble: null });
  });

  test("renews a worker that was prepared before the renewal was requested", async () => {
    let asked = 0;
    const made = engine({
      prepare: async () => {
        asked += 1;
        if (asked === 1) made.renewWorkers();
        return [scriptedStart];
      },
    });
    expect(await run(made, "answer")).toEqual({ chunks: [] });
    expect(asked).toBe(2);
  });

  test("passes an unexpected exit to the next preparation only, and a requested exit to none", async () => {
    const events: (string | null)[] = [];
    const made = engine({
      prepare: async (exit) => {
        events.push(exit?.signal ?? null);
        return [scriptedStart];
      },
    });
    await made.ready();
    process.kill(pidOf(made) ?? 0, "SIGILL");
    await until(() => made.status().restarts !== 0);
    await run(made, "answer");
    made.renewWorkers();
    await until(() => events.length >= 3);
    expect(events).toEqual([null, "SIGILL", null]);
  });

  test("lets the program exit when it is closed while it waits to restart a worker", async () => {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "program-that-closes-engine.ts")], {
      stdio: ["ignore", "ignore", "inherit"],
      timeout: 30_000,
    });
    expect(await child.exited).toBe(0);
  });

  /** Very short limits for operations and for a start. */
  const impatient = (minSeconds = 2) => ({
    timeLimits: new TimeLimits({ minSeconds, startSeconds: 20 }),
    checkMilliseconds: 20,
    lanes: 1,
  });
  const stopped = (pid: number | null) => process.kill(pid ?? 0, "SIGSTOP");

  test("replaces a suspended worker, and the new one completes its operations", async () => {
    const exits: (string | null)[] = [];
    const made = engine({ ...impatient(), onUnexpectedExit: ({ signal }) => exits.push(signal) });
    await made.ready();
    // The first operation of a kind has a longer limit.
    await run(made, "answer");
    stopped(pidOf(made));
    const [first, second] = ["answer", "answer"].map((what) => run(made, what));
    await until(() => made.status().trouble !== null);
    expect(made.status().trouble).toMatch(/^the worker has been running one planChunks operation for/);
    expect(await Promise.all([first, second])).toEqual([{ chunks: [] }, { chunks: [] }]);
    expect(exits).toEqual(["SIGKILL"]);
    expect(made.status()).toMatchObject({ state: "ready", trouble: null, busy: false });
  });

  test("fails an operation that never finishes as stalled, and does not count that against the one next to it", async () => {
    const made = engine({ ...impatient(0.5), lanes: 2 });
    await run(made, "answer");
    const record = notedRecord();
    const stuck = run(made, "wait");
    const enough = new AbortController();
    // The limit of the first block is several minutes.
    const neighbour = made.run("detectBlock", { ...script("wait"), block: 0 }, enough.signal, record);
    await expect(stuck).rejects.toBeInstanceOf(EngineStalledError);
    await until(() => made.status().state === "ready");
    enough.abort();
    await neighbour.catch(() => {});
    expect(new Set(record.noted)).toEqual(new Set(["start"]));
    expect(record.noted.length).toBeGreaterThanOrEqual(2);
  });

  test("replaces a worker that does not finish loading its models", async () => {
    using directory = temporaryDirectory();
    const timeLimits = new TimeLimits({ minSeconds: 60, startSeconds: 60 });
    // Only the first start has a short limit. The second one may take long on a busy machine.
    spyOn(timeLimits, "ofStart").mockReturnValueOnce(0.5);
    const slow = { ...scriptedStart, speechModel: join(directory.path, "slow-once") };
    const made = engine({
      ...{ timeLimits, checkMilliseconds: 20 },
      prepare: async (exit) => [exit === null ? slow : scriptedStart],
    });
    expect(await run(made, "answer")).toEqual({ chunks: [] });
    expect(made.status().restarts).toBe(1);
  });

  test("counts crashes of earlier runs of the program, and reports each one", async () => {
    const made = engine();
    const record = notedRecord(1);
    await expect(run(made, "crash", never, record)).rejects.toBeInstanceOf(EngineCrashError);
    expect(record.noted).toEqual(["start", "crashed", "start", "crashed"]);
    const last = notedRecord(3);
    await expect(run(made, "answer", never, last)).rejects.toBeInstanceOf(EngineCrashError);
    expect(last.noted).toEqual([]);
  });

  test("counts kills from outside separately from crashes", async () => {
    const record = notedRecord(2);
    const killed = run(engine(), "kill", never, record);
    await expect(killed).rejects.toBeInstanceOf(EngineKilledError);
    expect(record.noted).toEqual(["start", "killed", "start", "killed", "start", "killed"]);
  });

  test("retries an operation after each GPU failure without counting it as a crash", async () => {
    using directory = temporaryDirectory();
    const exits: (UnexpectedExit | null)[] = [];
    const record = notedRecord();
    const made = engine({
      prepare: async (exit) => {
        exits.push(exit);
        return [scriptedStart];
      },
    });
    const lost = script(`gpu-until:5:${join(directory.path, "tries")}`);
    expect(await made.run("planChunks", lost, never, record)).toEqual({ chunks: [] });
    expect(record.noted).toEqual([...Array(5).fill(["start", "gpu failed"]).flat(), "start"]);
    const failure = { gpuFailure: { message: "device lost", outOfMemory: false } };
    expect(exits).toEqual([null, ...Array.from({ length: 5 }, () => expect.objectContaining(failure))]);
    expect(exits[1]?.signal).toBe("SIGKILL");
  });

  test("runs as many operations at the same time as a worker's start message says", async () => {
    let lanes = 1;
    const running: string[] = [];
    const made = engine({ prepare: async () => [{ ...scriptedStart, lanes }] });
    const begin = (name: string) => {
      const record = { ...notedRecord(), onStart: () => void running.push(name) };
      void run(made, "wait", never, record).catch(() => {});
    };
    await made.ready();
    for (const name of ["one", "two", "three"]) begin(name);
    expect(running).toEqual(["one"]);
    lanes = 2;
    process.kill(pidOf(made) ?? 0, "SIGKILL");
    await until(() => running.length >= 3);
    expect(running).toEqual(["one", "one", "two"]);
  });

  test("fails only the operation whose attempt cannot be recorded", async () => {
    const made = engine();
    const begins = () => {
      throw new Error("the disk is full");
    };
    const refused = run(made, "answer", never, { ...notedRecord(), onStart: begins });
    await expect(refused).rejects.toThrow("the disk is full");
    expect(await run(made, "answer")).toEqual({ chunks: [] });
  });

  test("ends its worker and rejects the running operation when it is closed", async () => {
    const made = engine();
    await made.ready();
    const workerPid = pidOf(made);
    const running = run(made, "wait");
    const closing = made.close();
    expect(running).rejects.toThrow("closed");
    await closing;
    expect(() => process.kill(workerPid ?? 0, 0)).toThrow();
    expect(run(made, "answer")).rejects.toThrow("closed");
  });
});
