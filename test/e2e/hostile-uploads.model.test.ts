import { expect, test } from "bun:test";
import { available, corpusPath, ffmpegPath } from "../../harness/checkout.ts";
import { hostileUploads } from "../../tools/endurance/hostile-uploads.ts";

const ready = available("the e2e test of hostile uploads", ffmpegPath, corpusPath("formats"));

/** `scripts/endurance hostile` runs the same test with all crafted files and 60 damaged ones. */
test.if(ready)(
  "randomly damaged and maliciously crafted files get a correct result, and cause no error of the server",
  async () => {
    const rows = await hostileUploads({ seed: 7, reportProgress: () => {} }, { damaged: 6, built: 10 });
    expect(rows.filter(({ ok }) => !ok)).toEqual([]);
  },
  300_000,
);
