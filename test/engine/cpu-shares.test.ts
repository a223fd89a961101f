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
