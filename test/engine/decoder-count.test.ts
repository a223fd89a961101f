import { expect, test } from "bun:test";
import { DecoderCount } from "../../src/engine/decoder-count.ts";

test("the decoder's work is added up over processes, and the rows in each step are those of the latest report", () => {
  const count = new DecoderCount();
  expect(count.status).toEqual({ steps: 0, rows: 0, rowsPerStep: null });
  count.add({ steps: 10, rows: 50 });
  count.add({ steps: 12, rows: 70 });
  expect(count.status).toEqual({ steps: 12, rows: 70, rowsPerStep: 10 });
  // An idle worker reports the same again.
  count.add({ steps: 12, rows: 70 });
  expect(count.status.rowsPerStep).toBe(10);
  count.restart();
  count.add({ steps: 4, rows: 12 });
  expect(count.status).toEqual({ steps: 16, rows: 82, rowsPerStep: 3 });
});
