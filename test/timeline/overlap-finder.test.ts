import { expect, test } from "bun:test";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { planChunks } from "../../src/speech/plan-chunks.ts";
import { OverlapFinder } from "../../src/timeline/overlap-finder.ts";
import type { Span } from "../../src/timeline/spans.ts";
import { countReads } from "../support/count-reads.ts";

test("an OverlapFinder finds the spans that a comparison with all of them finds", () => {
  const random = randomNumbers(7);
  const draw = (count: number) =>
    Array.from({ length: count }, () => {
      const startSeconds = Math.floor(random() * 100);
      return { startSeconds, endSeconds: startSeconds + 1 + Math.floor(random() * 12) };
    }).sort((a, b) => a.startSeconds - b.startSeconds);
  for (let round = 0; round < 50; round++) {
    const [spans, asked] = [draw(30), draw(30)];
    const finder = new OverlapFinder(spans);
    for (const one of asked) {
      const all = spans.filter((span) => span.startSeconds < one.endSeconds && span.endSeconds > one.startSeconds);
      expect(finder.overlapping(one)).toEqual(all);
    }
  }
});

test.each([false, true])(
  "an hour of a long recording is planned with as many accesses as an hour of a short one (a call: %p)",
  (isCall) => {
    const readsIn = (hours: number) => {
      const regions = Array.from(
        { length: hours * 600 },
        (_, index): Span => ({
          startSeconds: index * 6 + 1,
          endSeconds: index * 6 + 4,
        }),
      );
      const counted = countReads(regions);
      const chunks = planChunks(counted.all, hours * 3600, isCall);
      expect(chunks.flatMap(({ speech }) => speech).length).toBe(regions.length);
      return counted.reads() / hours;
    };
    expect(readsIn(16)).toBeLessThan(readsIn(2) * 1.1);
  },
);
