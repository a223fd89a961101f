import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Engine, EngineCrashError, type EngineOptions, type UnexpectedExit } from "../../src/engine/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { isAlive } from "../e2e/processes.ts";
import { scriptedStart } from "../support/scripted-start.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const engines: Engine[] = [];
afterEach(async () => {
  for (const each of engines.splice(0)) await each.close();
});

/** What the worker of a GPU is started with. */
const onGpu = (number: string) => ({
  ...{ ...scriptedStart, lanes: 2 },
  gpu: { library: "cuda", label: `CUDA${number}`, name: "a GPU", environment: { CUDA_VISIBLE_DEVICES: number } },
});
const onCpu = scriptedStart;

/** An engine with a worker for each of two GPUs. */
async function engine(options: Partial<EngineOptions> = {}): Promise<Engine> {
  const made = new Engine({
    command: [process.execPath, join(import.meta.dir, "../support/scripted-worker.ts")],
    prepare: async () => [onGpu("0"), onGpu("1")],
    log: createLogger("silent"),
    restartDelayMilliseconds: () => 10,
    ...options,
  });
  engines.push(made);
  while (workersAt(made) < 2) await Bun.sleep(5);
  return made;
}

/** How many are there, and have told of their memory. */
const workersAt = (made: Engine) => made.status().workers.filter(({ gpuMemory }) => gpuMemory !== null).length;
const never = new AbortController().signal;
const script = (path: string) => ({ area: { directory: "/", pcm: { path, sampleCount: 1 } } });
const span = { startSeconds: 0, endSeconds: 1 };
/** An operation of whisper's. @returns the number of the GPU that did it */
async function heardBy(made: Engine, path = "answer", signal = never): Promise<string> {
  const chunk = { ...span, speech: [span] };
  const { probabilities } = await made.run("detectLanguage", { ...script(path), chunk, model: "/" }, signal);
  return Object.keys(probabilities).join();
}
const inOrder = (numbers: readonly string[]) => [...numbers].sort();

describe("several workers", () => {
  test("share what whisper does, each with the GPU that it sees", async () => {
    const made = await engine();
    const four = await Promise.all(Array.from({ length: 4 }, () => heardBy(made)));
    expect(inOrder(four)).toEqual(["0", "0", "1", "1"]);
    // Where both have the same room the first is taken, which may know the piece already.
    expect([await heardBy(made), await heardBy(made)]).toEqual(["0", "0"]);
  });

  test("leave to the first what whisper has no part in: the CPU's threads are not shared out", async () => {
    const made = await engine();
    const enough = new AbortController();
    const held = [1, 2].map(() => made.run("planChunks", script("wait"), enough.signal).catch(() => "stopped"));
    // The first one is full, and the second free.
    const waits = made.run("planChunks", script("answer"), never).then(() => "done");
    expect(await Promise.all([heardBy(made), heardBy(made), heardBy(made)])).toEqual(["1", "1", "1"]);
    expect(await Promise.race([waits, Bun.sleep(30)])).toBeUndefined();
    process.kill(made.status().workers[0]?.pid ?? 0, "SIGKILL");
    enough.abort();
    expect(await Promise.all([...held, waits])).toEqual(["stopped", "stopped", "done"]);
  });

  test("go on when one of them dies, and do what it was at", async () => {
    using directory = temporaryDirectory();
    const exits: (string | undefined)[] = [];
    const made = await engine({ onUnexpectedExit: ({ gpu }) => exits.push(gpu) });
    const enough = new AbortController();
    const [first, second] = [0, 1].map(() => heardBy(made, "wait", enough.signal).catch(() => "stopped"));
    // The third is the first worker's, which dies of it.
    expect(await heardBy(made, `die-until:1:${join(directory.path, "tries")}`)).toMatch(/^[01]$/);
    expect(exits).toEqual(["CUDA0"]);
    expect(made.status().state).toBe("ready");
    while (workersAt(made) < 2) await Bun.sleep(5);
    expect(made.status()).toMatchObject({ restarts: 1, trouble: null, busy: true });
    enough.abort();
    expect(await Promise.all([first, second])).toEqual(["stopped", "stopped"]);
  });

  test("lose one of them with its GPU, and all to the CPU with the last", async () => {
    using directory = temporaryDirectory();
    let there = ["0", "1"];
    const told: (UnexpectedExit | null)[] = [];
    const made = await engine({
      prepare: async (death) => {
        told.push(death);
        if (death?.gpuFailure !== undefined) there = there.filter((number) => death.gpu !== `CUDA${number}`);
        const [first, ...others] = there.map(onGpu);
        return first === undefined ? [onCpu] : [first, ...others];
      },
    });
    const lost = (file: string) => `gpu-until:1:${join(directory.path, file)}`;
    expect(await heardBy(made, lost("first"))).toBe("1");
    expect(await Promise.all([heardBy(made), heardBy(made)])).toEqual(["1", "1"]);
    expect(made.status()).toMatchObject({ state: "ready", restarts: 1, workers: [{ gpu: { label: "CUDA1" } }] });
    expect(await heardBy(made, lost("second"))).toBe("all");
    expect(await made.run("planChunks", script("answer"), never)).toEqual({ chunks: [] });
    expect(made.status()).toMatchObject({ state: "ready", restarts: 2, trouble: null });
    expect(told.map((death) => death?.gpu)).toEqual([undefined, "CUDA0", "CUDA1"]);
  });

  test("are found out about one after the other, so that none takes what another was told to", async () => {
    let asking = 0;
    const made = await engine({
      prepare: async () => {
        asking += 1;
        expect(asking).toBe(1);
        await Bun.sleep(5);
        asking -= 1;
        return [onGpu("0"), onGpu("1")];
      },
    });
    made.renewWorkers();
    expect(inOrder(await Promise.all([heardBy(made), heardBy(made)]))).not.toContain("all");
    while (workersAt(made) < 2) await Bun.sleep(5);
    expect(made.status()).toMatchObject({ state: "ready", trouble: null, restarts: 0 });
  });

  test("that are needed no more end once they are at nothing, and others begin", async () => {
    let there = ["0", "1"];
    const made = await engine({ prepare: async () => [onGpu(there[0] ?? ""), ...there.slice(1).map(onGpu)] });
    there = ["2", "3", "4"];
    made.renewWorkers();
    while (workersAt(made) < 3 || made.status().state !== "ready") await Bun.sleep(5);
    expect(inOrder(await Promise.all([heardBy(made), heardBy(made), heardBy(made)]))).toEqual(["2", "3", "4"]);
  });

  test("give up what kills one of them three times, the last time with nothing beside it, and go on with the rest", async () => {
    const made = await engine();
    const poisoned = heardBy(made, "crash").catch((error: unknown) => error);
    const others = Array.from({ length: 8 }, () => heardBy(made));
    expect(await poisoned).toBeInstanceOf(EngineCrashError);
    for (const number of await Promise.all(others)) expect(number).toMatch(/^[01]$/);
    expect(made.status().restarts).toBe(3);
  });

  test("tell what they may have died of, which has the same number each time", async () => {
    const told: UnexpectedExit["running"][] = [];
    const enough = new AbortController();
    const onWorkerDeath = ({ running }: UnexpectedExit) => {
      told.push(running);
      enough.abort();
    };
    const made = await engine({ onUnexpectedExit: onWorkerDeath });
    const beside = heardBy(made, "wait", enough.signal).catch(() => {});
    await made.run("planChunks", script("crash"), never).catch(() => {});
    await beside;
    const others = told[0]?.others ?? [];
    expect(others).toHaveLength(1);
    expect(told).toEqual([
      { speech: [expect.any(Number)], others },
      { speech: [], others },
      { speech: [], others },
    ]);
  });

  test("sleep together, and are woken together", async () => {
    const made = await engine({ idleMilliseconds: () => 40, checkMilliseconds: 10 });
    while (made.status().state !== "asleep") await Bun.sleep(5);
    while (workersAt(made) > 0) await Bun.sleep(5);
    made.wake();
    while (workersAt(made) < 2) await Bun.sleep(5);
    expect(made.status()).toMatchObject({ state: "ready", restarts: 0 });
  });

  test("end with the engine", async () => {
    const made = await engine();
    const [first] = made.status().workers;
    const waiting = [heardBy(made, "wait"), heardBy(made, "wait")].map((each) => each.catch(String));
    await made.close();
    expect(await Promise.all(waiting)).toEqual(Array(2).fill(expect.stringContaining("the engine is closed")));
    expect(isAlive(first?.pid ?? 0)).toBe(false);
  });
});
