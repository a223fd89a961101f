import { expect, test } from "bun:test";
import { TokenBucket } from "../../../src/http/shared/live/token-bucket.ts";

test("a token bucket gives its capacity at once, then what returns with time, and never more", () => {
  let now = 0;
  const bucket = new TokenBucket(3, 2, () => now);
  const spent = () => Array.from({ length: 5 }, () => bucket.spend());
  expect(spent()).toEqual([true, true, true, false, false]);
  now += 499;
  expect(bucket.spend()).toBe(false);
  now += 1;
  expect(spent()).toEqual([true, false, false, false, false]);
  now += 3_600_000;
  expect(spent()).toEqual([true, true, true, false, false]);
});

test("a clock that is set back returns no tokens, and takes none", () => {
  let now = 10_000;
  const bucket = new TokenBucket(1, 1, () => now);
  bucket.spend();
  now = 0;
  expect(bucket.spend()).toBe(false);
  now = 1000;
  expect(bucket.spend()).toBe(true);
});
