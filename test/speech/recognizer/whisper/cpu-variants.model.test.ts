import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { errorRate, wordErrors } from "../../../../harness/wer.ts";
import { isCpuLibrary, rateCpuLibrary } from "../../../../src/runtimes/index.ts";
import { linesOf } from "../../../support/run-script.ts";
import { canTranscribe, nativeDirectory } from "../../../support/whisper.ts";

// Seconds on a quiet machine, more on a busy one.
setDefaultTimeout(120_000);

const isReady = canTranscribe("reading with each CPU variant", "formats/jfk.flac");

/** Variants that this CPU can run, except the plainest, which are 60 times slower. */
const variants = !isReady
  ? []
  : readdirSync(nativeDirectory)
      .filter((file) => isCpuLibrary(file) && !/x64|sse42|armv8\.0/.test(file))
      .filter((file) => rateCpuLibrary(nativeDirectory, file) > 0);

/** The variant with our own products and attention in the steps of a beam, and one that computes them as ggml does. */
const [withOwn, withoutOwn] = [/icelake|zen4|sapphirerapids/, /haswell/].map((name) =>
  variants.find((file) => name.test(file)),
);
const dialogue = "dialogue/dlg-01-2spk-FM.flac";
const hasBoth = withOwn !== undefined && withoutOwn !== undefined;
if (isReady && !hasBoth) console.warn("SKIPPED: on newer processors, the words of variants with other precision");
const canCompare = hasBoth && canTranscribe("comparing CPU variants", dialogue);

describe.skipIf(!isReady)("each CPU variant", () => {
  const texts = new Map<string, string>();

  test.each(variants)("transcribes a recording with beams of several sizes: %s", async (variant) => {
    const isCompared = canCompare && [withOwn, withoutOwn].includes(variant);
    const script = join(import.meta.dir, "read-with-variant.ts");
    const printed = await linesOf(script, [variant, ...(isCompared ? [dialogue] : [])]);
    const lines = printed.map((line) => line.toLowerCase());
    if (isCompared) texts.set(variant, lines.pop() ?? "");
    expect(lines).toHaveLength(5);
    for (const line of lines) expect(line).toContain("ask what you can do for your country");
    // the number of threads divides the work and changes no number
    expect(lines[3]).toBe(lines[2] ?? "");
  });

  test.skipIf(!canCompare)(
    "recognizes nineteen of twenty words of a dialogue as a variant with other precision does",
    () => {
      const [own = "", other = ""] = [withOwn, withoutOwn].map((variant = "") => texts.get(variant));
      expect(own.split(" ").length).toBeGreaterThan(50);
      expect(errorRate([wordErrors(own, other)])).toBeLessThan(0.05);
    },
  );
});
