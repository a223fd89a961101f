import { describe, expect, test } from "bun:test";
import { orderOf as predictedOrder } from "../../src/queue/fair-queue.ts";

const minute = 60_000;

interface Waiting {
  /** Account and number: `a1`. */
  readonly id: string;
  readonly sinceMinute: number;
  /** Default: it has waited since its creation. */
  readonly createdAtMinute?: number;
  readonly resumed?: boolean;
}

interface Scene {
  readonly waiting: readonly Waiting[];
  readonly priorities?: Readonly<Record<string, number>>;
  /** Accounts of the recordings that run when the first slot becomes free. Each recording that starts runs too. */
  readonly running?: readonly string[];
  readonly atMinute?: number;
  /** Default: more than are needed. */
  readonly slots?: number;
}

/** Returns the order in which waiting recordings get free slots one by one, which must be the predicted order. */
function orderOf({ waiting, priorities = {}, running = [], atMinute = 1, slots = 99 }: Scene): string[] {
  const runningNow = [...running];
  const rules = {
    priorityOf: (account: string) => priorities[account] ?? 0,
    runningOf: (account: string) => runningNow.filter((each) => each === account).length,
    lastStartOf: (account: string) => runningNow.lastIndexOf(account) + 1,
    slots: () => slots,
    now: () => atMinute * minute,
  };
  const entries = waiting.map(({ id, sinceMinute, createdAtMinute = sinceMinute, resumed = false }) => {
    const times = { createdAt: createdAtMinute * minute, waitingSince: sinceMinute * minute };
    return { recordingId: id, accountId: id.charAt(0), ...times, resumed };
  });
  const predicted = predictedOrder(entries, rules, entries.length).map(({ recordingId }) => recordingId);
  const order: string[] = [];
  for (let left = entries; left.length > 0; ) {
    const [next] = predictedOrder(left, rules, 1);
    order.push(next?.recordingId ?? "");
    runningNow.push(next?.accountId ?? "");
    left = left.filter((entry) => entry !== next);
  }
  expect(predicted).toEqual(order);
  return order;
}

/** Recordings that have waited since minute 0, one second apart. */
const inOrder = (...ids: string[]) => ids.map((id, at) => ({ id, sinceMinute: at / 60 }));

describe("the order of the queue", () => {
  const scenes: [string, Scene, string[]][] = [
    ["first come, first served", { waiting: inOrder("a1", "b1", "c1") }, ["a1", "b1", "c1"]],
    [
      "recordings of one account in the order of their creation",
      { waiting: [...inOrder("a1", "a2", "a3")].reverse(), running: ["b"] },
      ["a1", "a2", "a3"],
    ],
    [
      "accounts are served round robin, even if one sent many first",
      { waiting: inOrder("a1", "a2", "a3", "b1", "c1") },
      ["a1", "b1", "c1", "a2", "a3"],
    ],
    [
      "the account with fewer running recordings goes first",
      { waiting: inOrder("a1", "b1"), running: ["a", "a", "b"] },
      ["b1", "a1"],
    ],
    [
      "all recordings of the account with the higher priority go first",
      { waiting: inOrder("a1", "b1", "b2", "b3"), priorities: { b: 1 }, running: ["b", "b"] },
      ["b1", "b2", "b3", "a1"],
    ],
    [
      "a priority below 0 comes last",
      { waiting: inOrder("a1", "b1", "c1"), priorities: { a: -1 } },
      ["b1", "c1", "a1"],
    ],
    [
      "a recording that had started before a restart goes before any priority",
      {
        waiting: [...inOrder("a1", "b1"), { id: "c1", sinceMinute: 5, resumed: true }],
        priorities: { a: 9, c: -9 },
      },
      ["c1", "a1", "b1"],
    ],
    [
      "a clock that was set back changes nothing",
      { waiting: inOrder("a1", "b1", "a2"), atMinute: -60 },
      ["a1", "b1", "a2"],
    ],
    [
      "ten minutes of waiting make up for a step of priority, but never for a fair share",
      {
        waiting: [
          { id: "a1", sinceMinute: 0 },
          { id: "b1", sinceMinute: 10 },
        ],
        priorities: { b: 1 },
        running: ["a"],
        atMinute: 10,
      },
      ["b1", "a1"],
    ],
    [
      "a second before the tenth minute a recording has gained nothing",
      {
        waiting: [
          { id: "a1", sinceMinute: 1 / 60 },
          { id: "b1", sinceMinute: 10 },
        ],
        priorities: { b: 1 },
        atMinute: 10,
      },
      ["b1", "a1"],
    ],
    [
      "after ten minutes a recording goes before a later one with one step more and as many running",
      {
        waiting: [
          { id: "b1", sinceMinute: 10 },
          { id: "a1", sinceMinute: 0 },
        ],
        priorities: { b: 1 },
        running: ["a", "b"],
        atMinute: 10,
      },
      ["a1", "b1"],
    ],
    [
      "hours of waiting give an account with many recordings no more than its share",
      { waiting: [...inOrder("a1", "a2", "a3"), { id: "b1", sinceMinute: 300 }], running: ["a", "a"], atMinute: 301 },
      ["b1", "a1", "a2", "a3"],
    ],
    [
      "an account that would hold the last slot comes after all others",
      {
        waiting: [{ id: "a1", sinceMinute: 0, resumed: true }, ...inOrder("a2", "b1", "c1")],
        priorities: { a: 9 },
        running: ["a"],
        slots: 2,
      },
      ["b1", "c1", "a1", "a2"],
    ],
    [
      "a single slot serves accounts round robin",
      { waiting: inOrder("a1", "a2", "b1", "b2", "c1"), slots: 1 },
      ["a1", "b1", "c1", "a2", "b2"],
    ],
    [
      "a suspended recording goes before later ones of its account, but not before other accounts' for its age",
      {
        waiting: [
          { id: "a1", sinceMinute: 100, createdAtMinute: 0 },
          { id: "a2", sinceMinute: 1 },
          { id: "b1", sinceMinute: 99 },
        ],
        priorities: { b: 1 },
        atMinute: 101,
      },
      ["b1", "a1", "a2"],
    ],
  ];
  test.each(scenes)("%s", (_, scene, order) => {
    expect(orderOf(scene)).toEqual(order);
  });

  test("a recording starts after ten minutes of waiting per step of priority, however many of higher priority arrive", () => {
    const priorities = { a: 0, b: 5 };
    for (const [atMinute, first] of [
      [49, "b1"],
      [60, "a1"],
    ] as const) {
      const waiting = [
        { id: "a1", sinceMinute: 0 },
        { id: "b1", sinceMinute: atMinute },
      ];
      expect(orderOf({ waiting, priorities, running: ["a", "b"], atMinute })[0]).toBe(first);
    }
  });
});
