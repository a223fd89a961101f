import { expect, test } from "bun:test";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import { lastAtMost } from "../../../src/console/page/recording/places.ts";
import { RowHeights } from "../../../src/console/page/recording/rows/row-heights.ts";

test("each row starts where the previous one ends, in whatever order heights are measured", () => {
  const random = randomNumbers(3);
  const heights = Array.from({ length: 500 }, () => 20 + Math.round(random() * 80));
  const rows = new RowHeights(heights.map(() => 40));
  for (let step = 0; step < 2_000; step++) {
    const index = Math.floor(random() * heights.length);
    rows.set(index, heights[index] ?? 0);
    if (step % 7 === 0) rows.offsetOf(Math.floor(random() * heights.length));
  }
  for (const [index, height] of heights.entries()) rows.set(index, height);
  let offset = 0;
  for (const [index, height] of heights.entries()) {
    expect(rows.offsetOf(index)).toBe(offset);
    expect(rows.indexAt(offset)).toBe(index);
    expect(rows.indexAt(offset + height - 1)).toBe(index);
    offset += height;
  }
  expect(rows.total).toBe(offset);
});

test("an offset outside the list belongs to its first or last row", () => {
  const rows = new RowHeights([10, 10, 10]);
  expect([-5, 0, 29, 1_000].map((offset) => rows.indexAt(offset))).toEqual([0, 0, 2, 2]);
});

test("setting a height reports whether it has changed", () => {
  const rows = new RowHeights([10, 10]);
  expect([rows.set(0, 10.2), rows.set(0, 30), rows.set(7, 30), rows.set(-1, 30)]).toEqual([false, true, false, false]);
});

test("lastAtMost finds the last ascending value that is not above a limit", () => {
  expect([0, 1, 4, 9, 10].map((limit) => lastAtMost([1, 1, 4, 9], limit))).toEqual([-1, 1, 2, 3, 3]);
  expect(lastAtMost([], 5)).toBe(-1);
});
