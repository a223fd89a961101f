import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { linesOf } from "../../../support/run-script.ts";
import { canTranscribe } from "../../../support/whisper.ts";

// Seconds on a quiet machine, more on a busy one.
setDefaultTimeout(60_000);

describe.skipIf(!canTranscribe("whisper's memory", "formats/jfk.flac"))("a model's memory", () => {
  let [ofModel, ofBeam]: (number | undefined)[] = [];
  let texts: string[] = [];

  beforeAll(async () => {
    const [sizes = "", ...rest] = await linesOf(join(import.meta.dir, "memory-of-use.ts"));
    [ofModel, , ofBeam] = sizes.split(" ").map(Number);
    texts = rest;
  });

  // The encoder of base has 41 MiB of weights.
  test("has no weights of the encoder before a window needs them", () => {
    expect(ofModel).toBeGreaterThan(50);
    expect(ofModel).toBeLessThan(90);
  });

  // A cache for five texts of full length has 42 MiB.
  test("grows by the length of a beam's texts, not by their maximum", () => {
    expect(ofBeam).toBeLessThan(20);
  });

  test("gets the weights of the encoder also after the file was removed", () => {
    expect(texts).toHaveLength(2);
    for (const text of texts) expect(text).toContain("your country");
  });
});
