import { setDefaultTimeout } from "bun:test";
import { compareVariants, shortClips } from "./compare-variants.ts";

// Seconds on a quiet machine, more on a busy one.
setDefaultTimeout(180_000);

compareVariants(shortClips);
