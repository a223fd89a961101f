import { setDefaultTimeout } from "bun:test";
import { compareVariants, shortClips } from "./compare-variants.ts";

// A minute on a quiet machine, more on a busy one.
setDefaultTimeout(600_000);

/** The longest span that the model transcribes at once. */
const window = {
  ...{ name: "window", recording: "dialogue/ami-EN2001a-first30s.flac", from: 0, seconds: 30 },
  minTokens: [25, 11] as const,
};

compareVariants([...shortClips, window]);
