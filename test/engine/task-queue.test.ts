import { describe, expect, test } from "bun:test";
import { Lanes, TaskQueue } from "../../src/engine/task-queue.ts";
import { newTask } from "./new-task.ts";

/** Starts the operations that may start now. @returns their ids */
function startWaiting(waiting: TaskQueue, lanes: Lanes): number[] {
  const ids = [];
  for (;;) {
    const next = waiting.take((task) => (lanes.accepts(task) ? lanes : null));
    if (next === null) return ids;
    next.worker.start(next.task);
    ids.push(next.task.id);
  }
}

function lanesOf(count: number): Lanes {
  const lanes = new Lanes();
  lanes.count = count;
  return lanes;
}

function queueOf(...tasks: ReturnType<typeof newTask>[]): TaskQueue {
  const waiting = new TaskQueue();
  for (const task of tasks) waiting.add(task);
  return waiting;
}

describe("lanes", () => {
  test("take operations in the order of the requests, as many as there are lanes", () => {
    const lanes = lanesOf(2);
    const waiting = queueOf(newTask(1), newTask(2), newTask(3));
    expect(startWaiting(waiting, lanes)).toEqual([1, 2]);
    expect(lanes.finish(1)?.id).toBe(1);
    expect(startWaiting(waiting, lanes)).toEqual([3]);
    expect(lanes.finish(1)).toBeNull();
  });

  test.each([
    ["crashed at it", { crashes: 2 }],
    ["were killed during it", { kills: 2 }],
    ["crashed at it or were killed", { crashes: 1, kills: 1 }],
  ])("run an operation alone after two workers %s: none starts next to it or overtakes it", (_what, counts) => {
    const lanes = lanesOf(3);
    const waiting = queueOf(newTask(1), newTask(2, counts), newTask(3));
    expect(startWaiting(waiting, lanes)).toEqual([1]);
    lanes.finish(1);
    expect(startWaiting(waiting, lanes)).toEqual([2]);
    lanes.finish(2);
    expect(startWaiting(waiting, lanes)).toEqual([3]);
  });

  test("return interrupted operations, which go to the head of the queue", () => {
    const lanes = lanesOf(2);
    const waiting = queueOf(newTask(1), newTask(2), newTask(3));
    startWaiting(waiting, lanes);
    const interrupted = lanes.interrupt();
    expect([lanes.isIdle, waiting.isEmpty]).toEqual([true, false]);
    waiting.putBack(interrupted);
    expect(startWaiting(waiting, lanes)).toEqual([1, 2]);
    expect(waiting.clear().map(({ id }) => id)).toEqual([3]);
    expect(waiting.isEmpty).toBe(true);
  });
});

describe("live operations", () => {
  const area = { directory: "/", pcm: { path: "/", sampleCount: 1 } };
  const span = { startSeconds: 0, endSeconds: 1 };
  const pass = (id: number) => {
    const params = { area, span, model: "/model", language: "en", isLast: false };
    return newTask(id, { operation: { name: "transcribeLive", params } });
  };
  const detection = (id: number) =>
    newTask(id, { operation: { name: "detectSpeech", params: { area, endSample: 1 } } });

  test("start before recordings, in the order of their requests, and in lanes of their own", () => {
    const lanes = lanesOf(2);
    const waiting = queueOf(newTask(1), newTask(2), newTask(3), pass(4), detection(5), pass(6), pass(7));
    expect(startWaiting(waiting, lanes)).toEqual([4, 5, 6, 1, 2]);
    lanes.finish(4);
    expect(startWaiting(waiting, lanes)).toEqual([7]);
    lanes.finish(1);
    expect(startWaiting(waiting, lanes)).toEqual([3]);
  });

  test("of the recognizer take the lanes of recordings on a GPU, before the next recording", () => {
    const lanes = lanesOf(2);
    lanes.sharesLanes = true;
    const waiting = queueOf(newTask(1), newTask(2));
    startWaiting(waiting, lanes);
    for (const task of [newTask(3), pass(4), detection(5)]) waiting.add(task);
    expect(startWaiting(waiting, lanes)).toEqual([5]);
    lanes.finish(1);
    expect(startWaiting(waiting, lanes)).toEqual([4]);
    lanes.finish(2);
    expect(startWaiting(waiting, lanes)).toEqual([3]);
  });

  test("neither run next to an operation that must run alone nor overtake it", () => {
    const lanes = lanesOf(2);
    const waiting = queueOf(newTask(1), newTask(2, { crashes: 2 }), pass(3));
    expect(startWaiting(waiting, lanes)).toEqual([1]);
    lanes.finish(1);
    expect(startWaiting(waiting, lanes)).toEqual([2]);
    lanes.finish(2);
    expect(startWaiting(waiting, lanes)).toEqual([3]);
  });
});

describe("a waiting operation", () => {
  test("can be withdrawn, unlike a running one", () => {
    const lanes = lanesOf(1);
    const [first, second] = [newTask(1), newTask(2)];
    const waiting = queueOf(first, second);
    startWaiting(waiting, lanes);
    expect([waiting.withdraw(first), waiting.withdraw(second)]).toEqual([false, true]);
    expect(lanes.running()).toEqual([first]);
  });

  test("is overtaken if no worker can start it, unless it waits to run alone", () => {
    const onlyFor = (id: number) => (task: { id: number }) => (task.id === id ? id : null);
    const waiting = queueOf(newTask(1), newTask(2), newTask(3, { crashes: 2 }), newTask(4));
    expect(waiting.take(onlyFor(2))?.task.id).toBe(2);
    expect(waiting.take(onlyFor(4))).toBeNull();
    expect(waiting.take(onlyFor(3))?.task.id).toBe(3);
    expect(waiting.take(onlyFor(4))?.task.id).toBe(4);
  });
});
