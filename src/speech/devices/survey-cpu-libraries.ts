import { type CpuTestOptions, rateVariant, runVariant, variantKeys } from "./cpu-self-test.ts";
import { readAnswer, timingSchema } from "./self-test-answers.ts";
import { readVerdicts, type Verdict } from "./verdicts.ts";

/** State of a variant, from its stored verdict and a self-test just now. */
export interface CpuVariant {
  /** File name, such as libggml-cpu-zen4.so. */
  readonly library: string;
  /** ggml's rating for this CPU; 0 if the variant does not support this CPU. */
  readonly score: number;
  /** Reason from the stored verdict why the server excludes the variant; null if it does not. */
  readonly leftOut: string | null;
  /** Result of the self-test just now; null if it was not tested. */
  readonly trial:
    | { readonly ok: true; readonly seconds: number }
    | { readonly ok: false; readonly reason: string }
    | null;
}

export interface CpuSurvey {
  /** The variant that a server would use; null if none works. */
  readonly used: string | null;
  /** All variants, best first. */
  readonly variants: readonly CpuVariant[];
}

/**
 * Tests the variants of the CPU backend, each in a separate process with the real model, and stores no verdicts. Tests
 * them best first until one works that the server does not exclude. With `all`, tests every variant that this CPU
 * supports.
 */
export async function surveyCpuLibraries(options: CpuTestOptions & { readonly all: boolean }): Promise<CpuSurvey> {
  const kept = readVerdicts(options.verdictsPath);
  const rated: { verdict: Verdict; leftOut: string | null }[] = [];
  for (const [library, key] of await variantKeys(options)) {
    const { verdict } = await rateVariant(options, library);
    const known = kept[key];
    rated.push({ verdict, leftOut: known?.state === "failed" ? known.reason : null });
  }
  rated.sort((a, b) => b.verdict.score - a.verdict.score);
  let used: string | null = null;
  const variants: CpuVariant[] = [];
  for (const { verdict, leftOut } of rated) {
    const { library, score } = verdict;
    let trial: CpuVariant["trial"] = verdict.state === "failed" ? { ok: false, reason: verdict.reason } : null;
    if (score > 0 && (options.all || (used === null && leftOut === null))) trial = await tryOut(options, library);
    if (trial?.ok === true && leftOut === null) used ??= library;
    variants.push({ library, score, leftOut, trial });
  }
  return { used, variants };
}

async function tryOut(options: CpuTestOptions, library: string): Promise<NonNullable<CpuVariant["trial"]>> {
  const outcome = await runVariant(options, library);
  if (!outcome.ok) return { ok: false, reason: outcome.reason };
  return { ok: true, seconds: readAnswer(timingSchema, outcome.output).seconds };
}
