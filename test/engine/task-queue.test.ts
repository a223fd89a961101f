import { describe, expect, test } from "bun:test";
import { Lanes, TaskQueue } from "../../src/engine/task-queue.ts";
import { newTask } from "./new-task.ts";

/** Ids of what may begin now. */
function begun(waiting: TaskQueue, lanes: Lanes): number[] {
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

function waitingFor(...tasks: ReturnType<typeof newTask>[]): TaskQueue {
  const waiting = new TaskQueue();
  for (const task of tasks) waiting.add(task);
  return waiting;
}

describe("lanes", () => {
  test("are taken in the order in which operations came, as many as there are", () => {
    const lanes = lanesOf(2);
    const waiting = waitingFor(newTask(1), newTask(2), newTask(3));
    expect(begun(waiting, lanes)).toEqual([1, 2]);
    expect(lanes.finish(1)?.id).toBe(1);
    expect(begun(waiting, lanes)).toEqual([3]);
    expect(lanes.finish(1)).toBeNull();
  });

  test.each([
    ["died of it", { crashes: 2 }],
    ["were killed while they were at it", { kills: 2 }],
    ["died of it or were killed", { crashes: 1, kills: 1 }],
  ])(
    "are one operation's alone where two workers %s: nothing begins before it, beside it or past it",
    (_what, counts) => {
      const lanes = lanesOf(3);
      const waiting = waitingFor(newTask(1), newTask(2, counts), newTask(3));
      expect(begun(waiting, lanes)).toEqual([1]);
      lanes.finish(1);
      expect(begun(waiting, lanes)).toEqual([2]);
      lanes.finish(2);
      expect(begun(waiting, lanes)).toEqual([3]);
    },
  );

  test("give back what was interrupted before all that waits", () => {
    const lanes = lanesOf(2);
    const waiting = waitingFor(newTask(1), newTask(2), newTask(3));
    begun(waiting, lanes);
    const interrupted = lanes.interrupt();
    expect([lanes.isIdle, waiting.isEmpty]).toEqual([true, false]);
    waiting.putBack(interrupted);
    expect(begun(waiting, lanes)).toEqual([1, 2]);
    expect(waiting.clear().map(({ id }) => id)).toEqual([3]);
    expect(waiting.isEmpty).toBe(true);
  });
});

describe("what waits", () => {
  test("is let go of, and what runs is not", () => {
    const lanes = lanesOf(1);
    const [first, second] = [newTask(1), newTask(2)];
    const waiting = waitingFor(first, second);
    begun(waiting, lanes);
    expect([waiting.withdraw(first), waiting.withdraw(second)]).toEqual([false, true]);
    expect(lanes.running()).toEqual([first]);
  });

  test("is passed where there is no place for it, unless it waits to run alone", () => {
    const onlyFor = (id: number) => (task: { id: number }) => (task.id === id ? id : null);
    const waiting = waitingFor(newTask(1), newTask(2), newTask(3, { crashes: 2 }), newTask(4));
    expect(waiting.take(onlyFor(2))?.task.id).toBe(2);
    expect(waiting.take(onlyFor(4))).toBeNull();
    expect(waiting.take(onlyFor(3))?.task.id).toBe(3);
    expect(waiting.take(onlyFor(4))?.task.id).toBe(4);
  });
});
