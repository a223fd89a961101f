import { beforeEach, describe, expect, test } from "bun:test";
import { type Engine, HealthCheck } from "../../src/engine/index.ts";

type Status = ReturnType<Engine["status"]>;

describe("whether the worker can work", () => {
  let status: Status;
  /** What was put through the models, whisper's path or `small`. */
  let tried: string[];
  /** How the next trials end. */
  let ends: Record<string, () => Promise<void>>;
  let clock: number;
  let trial: HealthCheck;

  beforeEach(() => {
    status = { state: "ready", trouble: null, busy: false, restarts: 0, workers: [] };
    tried = [];
    ends = {};
    clock = 0;
    const run = async (_operation: string, params: object) => {
      const model = "model" in params ? String(params.model) : "small";
      tried.push(model);
      await ends[model]?.();
      return {};
    };
    const engine = { run: run as unknown as Engine["run"], status: () => status };
    trial = new HealthCheck({ engine, model: () => "base", now: () => clock, patienceMilliseconds: 20 });
  });

  const whisperTakes = (milliseconds: number) => {
    ends.base = async () => {
      clock += milliseconds;
    };
  };
  const after = async (milliseconds: number) => {
    clock += milliseconds;
    const trouble = await trial.trouble();
    await Bun.sleep(0);
    return trouble;
  };
  const fails = (what: string) => async () => {
    throw new Error(what);
  };

  test("is found out by silence through its models, and the answer holds for seconds", async () => {
    expect([await after(0), await after(4999), await after(2)]).toEqual([null, null, null]);
    expect(tried).toEqual(["small", "base", "small", "base"]);
  });

  test("whisper is tried for a fiftieth of the time at most", async () => {
    whisperTakes(400);
    for (let count = 0; count < 9; count++) await after(5000);
    expect(tried.filter((what) => what === "base")).toHaveLength(3);
    expect(tried.filter((what) => what === "small")).toHaveLength(9);
  });

  test("one that has work is not kept from it", async () => {
    status = { ...status, busy: true };
    expect(await after(10_000)).toBeNull();
    expect(tried).toEqual([]);
  });

  test("one that has been at its work for far too long is none that works", async () => {
    status = { ...status, busy: true, trouble: "the worker has been running one transcribe operation for 31 s" };
    expect(await after(0)).toBe("the worker has been running one transcribe operation for 31 s");
    expect(trial.known()).toBe("the worker has been running one transcribe operation for 31 s");
  });

  test.each([
    ["starting", null, "the models are being loaded"],
    ["failing", "the model is missing", "the model is missing"],
  ] as const)("one that is %s says why", async (state, trouble, said) => {
    status = { ...status, state, trouble };
    expect(await after(0)).toBe(said);
    expect(tried).toEqual([]);
  });

  test("an idle one that does not answer is not ready, until it does", async () => {
    const answer = Promise.withResolvers<void>();
    ends.small = () => {
      status = { ...status, busy: true };
      return answer.promise;
    };
    expect(await after(0)).toContain("does not answer");
    expect(trial.known()).toContain("does not answer");
    expect(await after(6000)).toContain("does not answer");
    expect(tried).toEqual(["small"]);
    status = { ...status, busy: false };
    answer.resolve();
    await Bun.sleep(0);
    expect(trial.known()).toBeNull();
  });

  test("what fails is said, and tried again", async () => {
    ends.small = fails("CUDA error: out of memory");
    expect(await after(0)).toBe("CUDA error: out of memory");
    ends = {};
    expect(await after(1000)).toBe("CUDA error: out of memory");
    expect(await after(4001)).toBeNull();
  });

  test("whisper's failure is not hidden by the small models' success, and is tried again every few seconds, work or not", async () => {
    ends.base = fails("the device was lost");
    await after(0);
    expect(trial.known()).toBe("the device was lost");
    expect(await after(1000)).toBe("the device was lost");
    status = { ...status, busy: true };
    expect(await after(5000)).toBe("the device was lost");
    ends = {};
    await after(5001);
    expect(await after(1)).toBeNull();
    expect(tried).toEqual(["small", "base", "base", "base"]);
  });
});
