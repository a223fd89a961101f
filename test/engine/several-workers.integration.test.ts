import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { isAlive } from "../../harness/processes.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type Engine, EngineCrashError, type EngineOptions, type UnexpectedExit } from "../../src/engine/index.ts";
import { closeEngines, gpuOf, run, scriptedEngine, until } from "../support/scripted-engine.ts";
import { scriptedStart } from "../support/scripted-start.ts";

afterEach(closeEngines);

/** Returns the start message of a GPU's worker. */
const onGpu = (number: string) => ({
  ...{ ...scriptedStart, lanes: 2 },
  gpu: { library: "cuda", label: `CUDA${number}`, name: "a GPU", environment: { CUDA_VISIBLE_DEVICES: number } },
});
const onCpu = scriptedStart;

/** Starts an engine with a worker for each of two GPUs. */
async function engine(options: Partial<EngineOptions> = {}): Promise<Engine> {
  const made = scriptedEngine({ prepare: async () => [onGpu("0"), onGpu("1")], ...options });
  await until(() => workersAt(made) >= 2);
  return made;
}

/** Returns the number of workers that have reported their memory. */
const workersAt = (made: Engine) => made.status().workers.filter(({ gpuMemory }) => gpuMemory !== null).length;
const inOrder = (numbers: readonly string[]) => [...numbers].sort();

describe("several workers", () => {
  test("share the recognizer's operations, each with its own GPU", async () => {
    const made = await engine();
    const four = await Promise.all(Array.from({ length: 4 }, () => gpuOf(made)));
    expect(inOrder(four)).toEqual(["0", "0", "1", "1"]);
    // With equally many free lanes, the first worker is chosen.
    expect([await gpuOf(made), await gpuOf(made)]).toEqual(["0", "0"]);
  });

  test("leave operations without the recognizer to the first worker, so that the CPU's threads are not divided", async () => {
    const made = await engine();
    const enough = new AbortController();
    const held = [1, 2].map(() => run(made, "wait", enough.signal).catch(() => "stopped"));
    // The first worker is full, and the second one is free.
    const waits = run(made, "answer").then(() => "done");
    expect(await Promise.all([gpuOf(made), gpuOf(made), gpuOf(made)])).toEqual(["1", "1", "1"]);
    expect(await Promise.race([waits, Bun.sleep(30)])).toBeUndefined();
    process.kill(made.status().workers[0]?.pid ?? 0, "SIGKILL");
    enough.abort();
    expect(await Promise.all([...held, waits])).toEqual(["stopped", "stopped", "done"]);
  });

  test("continue when one of them crashes, and complete its operation", async () => {
    using directory = temporaryDirectory();
    const exits: (string | undefined)[] = [];
    const made = await engine({ onUnexpectedExit: ({ gpu }) => exits.push(gpu) });
    const enough = new AbortController();
    const [first, second] = [0, 1].map(() => gpuOf(made, "wait", enough.signal).catch(() => "stopped"));
    // The first worker receives the third operation and crashes.
    expect(await gpuOf(made, `crash-until:1:${join(directory.path, "attempts")}`)).toMatch(/^[01]$/);
    expect(exits).toEqual(["CUDA0"]);
    expect(made.status().state).toBe("ready");
    await until(() => workersAt(made) >= 2);
    expect(made.status()).toMatchObject({ restarts: 1, trouble: null, busy: true });
    enough.abort();
    expect(await Promise.all([first, second])).toEqual(["stopped", "stopped"]);
  });

  test("are reduced by one with each GPU that fails, and replaced by a CPU worker after the last", async () => {
    using directory = temporaryDirectory();
    let there = ["0", "1"];
    const events: (UnexpectedExit | null)[] = [];
    const made = await engine({
      prepare: async (exit) => {
        events.push(exit);
        if (exit?.gpuFailure !== undefined) there = there.filter((number) => exit.gpu !== `CUDA${number}`);
        const [first, ...others] = there.map(onGpu);
        return first === undefined ? [onCpu] : [first, ...others];
      },
    });
    const lost = (file: string) => `gpu-until:1:${join(directory.path, file)}`;
    expect(await gpuOf(made, lost("first"))).toBe("1");
    expect(await Promise.all([gpuOf(made), gpuOf(made)])).toEqual(["1", "1"]);
    expect(made.status()).toMatchObject({ state: "ready", restarts: 1, workers: [{ gpu: { label: "CUDA1" } }] });
    expect(await gpuOf(made, lost("second"))).toBe("all");
    expect(await run(made, "answer")).toEqual({ chunks: [] });
    expect(made.status()).toMatchObject({ state: "ready", restarts: 2, trouble: null });
    expect(events.map((exit) => exit?.gpu)).toEqual([undefined, "CUDA0", "CUDA1"]);
  });

  test("are prepared one after the other, so that no two of them get the same GPU", async () => {
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
    expect(inOrder(await Promise.all([gpuOf(made), gpuOf(made)]))).not.toContain("all");
    await until(() => workersAt(made) >= 2);
    expect(made.status()).toMatchObject({ state: "ready", trouble: null, restarts: 0 });
  });

  test("without a GPU in the next preparation end once they are idle, and new ones start", async () => {
    let there = ["0", "1"];
    const made = await engine({ prepare: async () => [onGpu(there[0] ?? ""), ...there.slice(1).map(onGpu)] });
    there = ["2", "3", "4"];
    made.renewWorkers();
    await until(() => workersAt(made) >= 3 && made.status().state === "ready");
    expect(inOrder(await Promise.all([gpuOf(made), gpuOf(made), gpuOf(made)]))).toEqual(["2", "3", "4"]);
  });

  test("fail an operation that crashes three of them, and complete the others", async () => {
    const made = await engine();
    const crashing = gpuOf(made, "crash").catch((error: unknown) => error);
    const others = Array.from({ length: 8 }, () => gpuOf(made));
    expect(await crashing).toBeInstanceOf(EngineCrashError);
    for (const number of await Promise.all(others)) expect(number).toMatch(/^[01]$/);
    expect(made.status().restarts).toBe(3);
  });

  test("report the operations that may have caused an exit by the same ids each time", async () => {
    const events: UnexpectedExit["running"][] = [];
    const enough = new AbortController();
    const onUnexpectedExit = ({ running }: UnexpectedExit) => {
      events.push(running);
      enough.abort();
    };
    const made = await engine({ onUnexpectedExit });
    const neighbour = gpuOf(made, "wait", enough.signal).catch(() => {});
    await run(made, "crash").catch(() => {});
    await neighbour;
    const others = events[0]?.others ?? [];
    expect(others).toHaveLength(1);
    expect(events).toEqual([
      { speech: [expect.any(Number)], others },
      { speech: [], others },
      { speech: [], others },
    ]);
  });

  test("fall asleep and wake together", async () => {
    let idle = 0;
    const made = await engine({ idleMilliseconds: () => idle, checkMilliseconds: 10 });
    idle = 40;
    await until(() => made.status().state === "asleep");
    await until(() => workersAt(made) <= 0);
    // Awake workers must not fall asleep again before this process sees them.
    idle = 0;
    made.wake();
    await until(() => workersAt(made) >= 2);
    expect(made.status()).toMatchObject({ state: "ready", restarts: 0 });
  });

  test("end when the engine is closed", async () => {
    const made = await engine();
    const [first] = made.status().workers;
    const waiting = [gpuOf(made, "wait"), gpuOf(made, "wait")].map((each) => each.catch(String));
    await made.close();
    expect(await Promise.all(waiting)).toEqual(Array(2).fill(expect.stringContaining("the engine is closed")));
    expect(isAlive(first?.pid ?? 0)).toBe(false);
  });
});
