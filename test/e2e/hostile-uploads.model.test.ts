import { expect, test } from "bun:test";
import { hostileUploads } from "../../scripts/support/endurance/hostile-uploads.ts";
import { available, corpusPath, ffmpegPath } from "../support/checkout.ts";

const ready = available("the e2e test of hostile uploads", ffmpegPath, corpusPath("formats"));

/** scripts/endurance hostile sends all that are built to mislead, and 60 damaged ones. */
test.if(ready)(
  "of files that are damaged at random or built to mislead each ends honestly, and the server has no fault of its own",
  async () => {
    const rows = await hostileUploads({ seed: 7, reportProgress: () => {} }, { damaged: 6, built: 10 });
    expect(rows.filter(({ ok }) => !ok)).toEqual([]);
  },
  300_000,
);
