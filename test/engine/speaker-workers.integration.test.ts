import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { Engine, EngineOptions, UnexpectedExit } from "../../src/engine/index.ts";
import type { WorkerStart } from "../../src/operations/index.ts";
import { closeEngines, gpuOf, never, script, scriptedEngine, until } from "../support/scripted-engine.ts";
import { scriptedStart } from "../support/scripted-start.ts";

afterEach(closeEngines);

const gpu = { library: "cuda", label: "CUDA0", name: "a GPU", environment: { CUDA_VISIBLE_DEVICES: "0" } };
const onGpu: WorkerStart = { ...scriptedStart, role: "speech", lanes: 3, gpu };
const speakers: WorkerStart = { ...scriptedStart, role: "speakers" };
const onCpu: WorkerStart = { ...scriptedStart, lanes: 2 };

/** Starts an engine with a GPU worker and two speaker workers. */
async function engine(options: Partial<EngineOptions> = {}): Promise<Engine> {
  const made = scriptedEngine({ prepare: async () => [onGpu, speakers, speakers], ...options });
  await allReady(made, 3);
  return made;
}

async function allReady(made: Engine, count: number): Promise<void> {
  const areReady = () => {
    const { workers } = made.status();
    return workers.length === count && workers.every(({ state }) => state === "ready");
  };
  await until(areReady);
}

const detect = (made: Engine, path: string, signal = never) =>
  made.run("detectBlock", { ...script(path), block: 0 }, signal);

describe("speaker workers", () => {
  test("run the operations without the recognizer at the same time, while the GPU continues", async () => {
    const made = await engine();
    const enough = new AbortController();
    const held = [1, 2].map(() => detect(made, "wait", enough.signal).catch(() => "stopped"));
    // Both speaker workers are busy. The GPU has free lanes, and takes only its own operations.
    const waits = detect(made, "answer").then(() => "done");
    expect(await Promise.all([gpuOf(made), gpuOf(made), gpuOf(made)])).toEqual(["0", "0", "0"]);
    expect(await Promise.race([waits, Bun.sleep(30)])).toBeUndefined();
    for (const { pid, role } of made.status().workers) if (role === "speakers") process.kill(pid ?? 0, "SIGKILL");
    enough.abort();
    expect(await Promise.all([...held, waits])).toEqual(["stopped", "stopped", "done"]);
  });

  test("let one recording use all lanes of the GPU, and do not count as lanes of a fleet's worker", async () => {
    const made = await engine();
    expect([made.partsAtOnce, made.lanes, made.recognizerLanes]).toEqual([3, 3, 3]);
    const more = await engine({ prepare: async () => [{ ...onGpu, lanes: 1 }, speakers, speakers] });
    expect([more.partsAtOnce, more.lanes, more.recognizerLanes]).toEqual([2, 1, 1]);
  });

  test("report their crash as one without a GPU, and the operation completes in the next process", async () => {
    using directory = temporaryDirectory();
    const exits: UnexpectedExit[] = [];
    const made = await engine({ onUnexpectedExit: (exit) => exits.push(exit) });
    await detect(made, `crash-until:1:${join(directory.path, "attempts")}`);
    expect(exits).toEqual([expect.objectContaining({ signal: "SIGSEGV", role: "speakers" })]);
    expect(exits[0]?.gpu).toBeUndefined();
    await allReady(made, 3);
  });

  test("end when the CPU takes over from the GPU, whose one worker then runs all operations", async () => {
    using directory = temporaryDirectory();
    let isLost = false;
    const made = await engine({
      prepare: async (exit) => {
        isLost ||= exit?.gpuFailure !== undefined;
        return isLost ? [onCpu] : [onGpu, speakers, speakers];
      },
    });
    expect(await gpuOf(made, `gpu-until:1:${join(directory.path, "first")}`)).toBe("all");
    await Promise.all(Array.from({ length: 4 }, () => detect(made, "answer")));
    await allReady(made, 1);
    expect(made.status()).toMatchObject({ state: "ready", restarts: 1, trouble: null, workers: [{ role: null }] });
    expect(made.partsAtOnce).toBe(2);
  });

  test("wake with one preparation for all workers", async () => {
    let preparations = 0;
    let idle = 0;
    const made = await engine({
      prepare: async () => {
        preparations += 1;
        return [onGpu, speakers, speakers];
      },
      idleMilliseconds: () => idle,
      checkMilliseconds: 10,
    });
    idle = 40;
    await until(() => made.status().workers.every(({ pid }) => pid === null));
    const before = preparations;
    idle = 0;
    made.wake();
    await allReady(made, 3);
    expect(preparations - before).toBe(1);
  });
});
