import { expect, test } from "bun:test";
import { Events, Station } from "../../../tools/bench/capacity/events.ts";
import { FairSlots } from "../../../tools/bench/capacity/fair-slots.ts";
import { type Costs, fit, forHour, ofRecording } from "../../../tools/bench/capacity/model.ts";
import { type Plant, simulate } from "../../../tools/bench/capacity/simulate.ts";

const none = { perRecording: 0, perHour: 0 };
const costs: Costs = {
  mainSeconds: { perRecording: 0.04, perHour: 1 },
  ...{ threadSeconds: none, childSeconds: { perRecording: 0, perHour: 1.2 }, brokerSeconds: none, workerSeconds: none },
  ...{ parts: { perRecording: 3, perHour: 240 }, brokerMessages: none, receivedBytes: none, transactions: none },
  ...{
    sentBytes: { perRecording: 0, perHour: 4e8 },
    pages: none,
    databaseBytes: none,
    syncs: none,
    syncSeconds: 0,
    commitSeconds: 0,
  },
  requests: { pollSeconds: 0, resultSeconds: 0, pollBytes: 0, resultBytes: 0 },
};
const plant: Plant = {
  ...{ cores: 16, shared: false, slots: 64, lanes: 60, laneSpeed: 25, networkBytes: 1.25e9, diskBytes: 1e9 },
  ...{ uploadBytes: 3e7, pollEverySeconds: 5, accounts: 10, copies: false },
};

test("events happen in the order of their times, and of their entry at the same time", () => {
  const events = new Events();
  const seen: string[] = [];
  for (const [name, at] of [
    ["d", 3],
    ["a", 1],
    ["c", 2],
    ["b", 1],
  ] as const)
    events.after(at, () => seen.push(`${name}${events.now}`));
  events.run(2.5);
  expect(seen).toEqual(["a1", "b1", "c2"]);
  events.run();
  expect(seen.at(-1)).toBe("d3");
});

test("a station serves as many jobs at once as it has servers, and counts the time of each", () => {
  const events = new Events();
  const cores = new Station(events, 2);
  const ends: number[] = [];
  for (const seconds of [4, 1, 1, 5]) cores.use(seconds, () => ends.push(events.now));
  expect(cores.waiting).toBe(2);
  events.run();
  expect(ends).toEqual([1, 2, 4, 7]);
  expect(cores.usedSeconds).toBe(11);
});

test("the slots go to the account with the fewest recordings, so that a small one does not wait for a large one", () => {
  const slots = new FairSlots(2);
  const started: string[] = [];
  const enter = (account: number, name: string) => {
    for (const start of slots.enter(account, () => started.push(name))) start();
  };
  for (const name of ["a1", "a2", "a3", "a4"]) enter(1, name);
  enter(2, "b1");
  expect(started).toEqual(["a1", "a2"]);
  for (const start of slots.leave(1)) start();
  expect(started.at(-1)).toBe("b1");
});

test("the costs of a recording and of an hour are found from two loads", () => {
  const found = fit(
    { recordings: 80, hours: 4 / 3, sum: 80 * 0.5 + 4 },
    { recordings: 4, hours: 4, sum: 4 * 0.5 + 12 },
  );
  expect(found.perRecording).toBeCloseTo(0.5, 9);
  expect(found.perHour).toBeCloseTo(3, 9);
  expect(ofRecording(found, 30)).toBeCloseTo(2, 9);
  expect(forHour(found, 6)).toBeCloseTo(8, 9);
});

test("recordings that are sent at once take about as long as the only resource that they need", () => {
  const alone: Costs = { ...costs, childSeconds: none };
  const minutes = Array.from({ length: 20 }, () => 60);
  const { seconds, hoursAnHour } = simulate(alone, { ...plant, laneSpeed: 1e9 }, { minutes, uploadsAtOnce: 20 });
  // The main thread computes 1.04 s for each of them.
  expect(seconds).toBeGreaterThan(20 * 1.04);
  expect(seconds).toBeLessThan(20 * 1.04 * 1.1);
  expect(hoursAnHour).toBeCloseTo((20 * 3600) / seconds, 6);
});

test("a load below the limit keeps up with the calculated use, one above does not, and both are the same each time", () => {
  const run = (hoursAnHour: number) => simulate(costs, plant, { hoursAnHour, warmUpSeconds: 600, seconds: 1800 });
  const below = run(600);
  expect(below.keepsUp).toBe(true);
  const recordings = 600 / (13.5 / 60);
  expect(below.use["main thread"]).toBeCloseTo((600 * 1 + recordings * 0.04) / 3600, 1);
  // Five workers of 300 times real time would be used by 1,500 hours.
  expect(below.use.workers).toBeCloseTo(600 / 1500, 1);
  expect(run(600)).toEqual(below);
  const above = run(2000);
  expect(above.keepsUp).toBe(false);
  expect(above.use.workers).toBeGreaterThan(0.95);
});
