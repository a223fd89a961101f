import { expect, test } from "bun:test";
import { cpuShares } from "../../src/engine/index.ts";

test.each([
  [1, 1, 1],
  [2, 2, 1],
  [4, 4, 1],
  [7, 4, 1],
  [8, 4, 2],
  [32, 4, 8],
])("%d threads are shared by %d operations with %d threads each", (threads, lanes, each) => {
  expect(cpuShares(threads)).toEqual({ lanes, threads: each, speechThreads: each });
});

test.each([
  [8, 2, 2, 4],
  [8, 8, 8, 1],
  [2, 16, 2, 1],
])(
  "%d threads for %d operations, by setting or measurement, are shared by %d with %d each",
  (threads, atOnce, lanes, each) => {
    expect(cpuShares(threads, atOnce)).toEqual({ lanes, threads: each, speechThreads: each });
  },
);
