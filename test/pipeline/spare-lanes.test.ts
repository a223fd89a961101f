import { describe, expect, test } from "bun:test";
import type { Params } from "../../src/operations/index.ts";
import { SpareLanes } from "../../src/pipeline/spare-lanes.ts";
import type { StepEngine } from "../../src/pipeline/step.ts";

const never = new AbortController().signal;

/** An engine whose operations, named by their block, end on demand. */
function scripted(partsAtOnce: number, recognizerLanes = 0) {
  const running = new Map<number, PromiseWithResolvers<unknown>>();
  const started: number[] = [];
  const engine = {
    ...{ partsAtOnce, recognizerLanes },
    run: (_operation: string, { block }: { block: number }) => {
      started.push(block);
      const one = Promise.withResolvers<unknown>();
      running.set(block, one);
      return one.promise;
    },
  } as unknown as StepEngine;
  const lanes = new SpareLanes(engine);
  const area = { directory: "none", pcm: { path: "none", sampleCount: 0 } };
  return {
    lanes,
    started,
    urgent: (block: number) => lanes.urgent.run("detectBlock", { area, block }, never),
    patient: (block: number, signal = never) => lanes.patient.run("embedBlock", { area, block }, signal),
    /** Requests an operation of the recognizer. */
    recognize: (block: number) =>
      lanes.patient.run("transcribe", { block, model: "base" } as unknown as Params<"transcribe">, never),
    end: (block: number) => running.get(block)?.resolve({}),
    fail: (block: number) => running.get(block)?.reject(new Error("it failed")),
  };
}

/** Resolves when everything that was ready has run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe("an operation that nothing waits for", () => {
  test("starts only where the operations of the next step leave a lane unused", async () => {
    const { urgent, patient, started, end } = scripted(2);
    for (const block of [1, 2]) void urgent(block);
    void patient(10);
    await settled();
    expect(started).toEqual([1, 2]);
    end(1);
    await settled();
    expect(started).toEqual([1, 2, 10]);
  });

  test("does not take the lane of the step's next operation, which is requested when one has ended", async () => {
    const { urgent, patient, started, end } = scripted(2);
    void urgent(1).then(() => urgent(3));
    void urgent(2).then(() => patient(10));
    await settled();
    end(1);
    end(2);
    await settled();
    expect(started).toEqual([1, 2, 3, 10]);
  });

  test("leaves one of several lanes to the step, and uses a single one", async () => {
    const several = scripted(3);
    for (const block of [10, 11, 12]) void several.patient(block);
    await settled();
    expect(several.started).toEqual([10, 11]);
    void several.urgent(1);
    expect(several.started).toEqual([10, 11, 1]);
    const single = scripted(1);
    void single.patient(10);
    await settled();
    expect(single.started).toEqual([10]);
  });

  test("does not start together with another one in the same lane", async () => {
    const { urgent, patient, started, end } = scripted(3);
    for (const block of [1, 2, 3]) void urgent(block);
    for (const block of [10, 11, 12]) void patient(block);
    await settled();
    end(1);
    await settled();
    expect(started).toEqual([1, 2, 3, 10]);
  });

  test("starts in the recognizer's own lanes while the others are in use, and not beyond them", async () => {
    const { urgent, patient, recognize, started } = scripted(2, 3);
    for (const block of [1, 2]) void urgent(block);
    void patient(10);
    for (const block of [20, 21, 22]) void recognize(block);
    await settled();
    expect(started).toEqual([1, 2, 20, 21]);
  });

  test("starts when another has failed", async () => {
    const { urgent, patient, started, fail } = scripted(1);
    const failing = urgent(1);
    void patient(10);
    await settled();
    fail(1);
    await expect(failing).rejects.toThrow("it failed");
    await settled();
    expect(started).toEqual([1, 10]);
  });

  test("takes turns with the others once the lanes are shared", async () => {
    const { lanes, urgent, patient, started } = scripted(1);
    void urgent(1);
    void patient(10);
    await settled();
    expect(started).toEqual([1]);
    lanes.release();
    await settled();
    expect(started).toEqual([1, 10]);
  });

  test("ends with the signal's reason while it waits", async () => {
    const { urgent, patient, started } = scripted(1);
    void urgent(1);
    const controller = new AbortController();
    const waiting = patient(10, controller.signal);
    await settled();
    controller.abort(new Error("cancelled"));
    await expect(waiting).rejects.toThrow("cancelled");
    expect(started).toEqual([1]);
  });
});
