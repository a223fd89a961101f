import { describe, expect, test } from "bun:test";
import { Lanes } from "../../src/engine/lanes.ts";
import { askedFor } from "./asked-for.ts";

/** Ids of what may begin now. */
function begun(lanes: Lanes): number[] {
  const ids = [];
  for (let next = lanes.begin(); next !== null; next = lanes.begin()) ids.push(next.id);
  return ids;
}

describe("lanes", () => {
  test("are taken in the order in which operations came, as many as there are", () => {
    const lanes = new Lanes(2);
    for (const id of [1, 2, 3]) lanes.add(askedFor(id));
    expect(begun(lanes)).toEqual([1, 2]);
    expect(lanes.end(1)?.id).toBe(1);
    expect(begun(lanes)).toEqual([3]);
    expect(lanes.end(1)).toBeNull();
  });

  test.each([
    ["died of it", { deaths: 2 }],
    ["were killed while they were at it", { kills: 2 }],
    ["died of it or were killed", { deaths: 1, kills: 1 }],
  ])(
    "are one operation's alone where two workers %s: nothing begins before it, beside it or past it",
    (_what, counts) => {
      const lanes = new Lanes(3);
      lanes.add(askedFor(1));
      lanes.add(askedFor(2, counts));
      lanes.add(askedFor(3));
      expect(begun(lanes)).toEqual([1]);
      lanes.end(1);
      expect(begun(lanes)).toEqual([2]);
      lanes.end(2);
      expect(begun(lanes)).toEqual([3]);
    },
  );

  test("give back what was interrupted before all that waits", () => {
    const lanes = new Lanes(2);
    for (const id of [1, 2, 3]) lanes.add(askedFor(id));
    begun(lanes);
    const interrupted = lanes.interrupt();
    expect([lanes.nothingRuns, lanes.isEmpty]).toEqual([true, false]);
    lanes.putBack(interrupted);
    expect(begun(lanes)).toEqual([1, 2]);
    expect(lanes.clear().map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(lanes.isEmpty).toBe(true);
  });

  test("let go of what waits, not of what runs", () => {
    const lanes = new Lanes(1);
    const [first, second] = [askedFor(1), askedFor(2)];
    lanes.add(first);
    lanes.add(second);
    begun(lanes);
    expect([lanes.withdraw(first), lanes.withdraw(second)]).toEqual([false, true]);
    expect(lanes.running()).toEqual([first]);
  });
});
