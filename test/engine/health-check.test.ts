import { beforeEach, describe, expect, test } from "bun:test";
import { type Engine, HealthCheck } from "../../src/engine/index.ts";

type Status = ReturnType<Engine["status"]>;

const waiting = { speech: 0, speakers: 0 };

describe("the health check", () => {
  let status: Status;
  /** The tested models: the path of the speech model, or `small`. */
  let tested: string[];
  /** Outcomes of the next self-tests, by model. */
  let outcomes: Record<string, () => Promise<void>>;
  let clock: number;
  let health: HealthCheck;

  beforeEach(() => {
    status = { state: "ready", trouble: null, busy: false, waiting, restarts: 0, workers: [] };
    tested = [];
    outcomes = {};
    clock = 0;
    const run = async (_operation: string, params: object) => {
      const model = "model" in params ? String(params.model) : "small";
      tested.push(model);
      await outcomes[model]?.();
      return {};
    };
    const engine = { run: run as unknown as Engine["run"], status: () => status };
    health = new HealthCheck({ engine, model: () => "base", now: () => clock, answerMilliseconds: 20 });
  });

  const speechModelTakes = (milliseconds: number) => {
    outcomes.base = async () => {
      clock += milliseconds;
    };
  };
  const after = async (milliseconds: number) => {
    clock += milliseconds;
    const trouble = await health.trouble();
    await Bun.sleep(0);
    return trouble;
  };
  const fails = (what: string) => async () => {
    throw new Error(what);
  };

  test("runs silence through both models, and the result is valid for five seconds", async () => {
    expect([await after(0), await after(4999), await after(2)]).toEqual([null, null, null]);
    expect(tested).toEqual(["small", "base", "small", "base"]);
  });

  test("tests the speech model for at most a fiftieth of the time", async () => {
    speechModelTakes(400);
    for (let count = 0; count < 9; count++) await after(5000);
    expect(tested.filter((what) => what === "base")).toHaveLength(3);
    expect(tested.filter((what) => what === "small")).toHaveLength(9);
  });

  test("does not test a busy worker", async () => {
    status = { ...status, busy: true };
    expect(await after(10_000)).toBeNull();
    expect(tested).toEqual([]);
  });

  test("reports a busy worker whose operation takes far too long", async () => {
    status = { ...status, busy: true, trouble: "the worker has been running one transcribe operation for 31 s" };
    expect(await after(0)).toBe("the worker has been running one transcribe operation for 31 s");
    expect(health.known()).toBe("the worker has been running one transcribe operation for 31 s");
  });

  test.each([
    ["starting", null, "the models are being loaded"],
    ["failing", "the model is missing", "the model is missing"],
  ] as const)("reports why a worker is %s", async (state, trouble, reported) => {
    status = { ...status, state, trouble };
    expect(await after(0)).toBe(reported);
    expect(tested).toEqual([]);
  });

  test("reports an idle worker that does not answer, until it does", async () => {
    const answer = Promise.withResolvers<void>();
    outcomes.small = () => {
      status = { ...status, busy: true };
      return answer.promise;
    };
    expect(await after(0)).toContain("does not answer");
    expect(health.known()).toContain("does not answer");
    expect(await after(6000)).toContain("does not answer");
    expect(tested).toEqual(["small"]);
    status = { ...status, busy: false };
    answer.resolve();
    await Bun.sleep(0);
    expect(health.known()).toBeNull();
  });

  test("reports a failed self-test and repeats it", async () => {
    outcomes.small = fails("CUDA error: out of memory");
    expect(await after(0)).toBe("CUDA error: out of memory");
    outcomes = {};
    expect(await after(1000)).toBe("CUDA error: out of memory");
    expect(await after(4001)).toBeNull();
  });

  test("reports a failed speech model although the small model works, and repeats its test every five seconds, busy or not", async () => {
    outcomes.base = fails("the device was lost");
    await after(0);
    expect(health.known()).toBe("the device was lost");
    expect(await after(1000)).toBe("the device was lost");
    status = { ...status, busy: true };
    expect(await after(5000)).toBe("the device was lost");
    outcomes = {};
    await after(5001);
    expect(await after(1)).toBeNull();
    expect(tested).toEqual(["small", "base", "base", "base"]);
  });
});
