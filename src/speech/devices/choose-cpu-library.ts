import { type CpuTestOptions, type Rating, rateVariant, testVariant, variantKeys } from "./cpu-self-test.ts";
import { addVerdicts, readVerdicts, type Verdict } from "./verdicts.ts";

interface Finding extends Rating {
  readonly key: string;
}

/** The chosen variant, and the variants that failed. */
export interface CpuChoice {
  readonly cpuLibrary: string;
  readonly leftOut: readonly { readonly library: string; readonly reason: string }[];
}

/** Error if no variant works with a model; holds the reason for each variant. */
export class NoCpuLibraryError extends Error {
  override readonly name = "NoCpuLibraryError";
  readonly leftOut: CpuChoice["leftOut"];

  constructor(nativeDirectory: string, leftOut: CpuChoice["leftOut"]) {
    const reasons = leftOut.map(({ library, reason }) => `${library}: ${reason}`).join("; ");
    super(`no CPU backend in ${nativeDirectory} works on this machine (${reasons || "there is none"})`);
    this.leftOut = leftOut;
  }
}

/**
 * Chooses the variant of the CPU backend with the best rating by ggml that passes its self-test on this machine.
 *
 * Tests each variant in a separate process, best first; after a crash, the next variant is tested. Stores the results
 * for this CPU, model and library, so that later calls start no process.
 *
 * @param without variants to exclude
 * @throws {NoCpuLibraryError} if no variant works
 */
export async function chooseCpuLibrary(options: CpuTestOptions, without: readonly string[] = []): Promise<CpuChoice> {
  const known = readVerdicts(options.verdictsPath);
  const findings: Finding[] = [];
  for (const [library, key] of await variantKeys(options)) {
    if (without.includes(library)) continue;
    const verdict = known[key];
    const rated = verdict === undefined ? await rateVariant(options, library) : { verdict, lasting: true };
    findings.push({ key, ...rated });
  }
  findings.sort((a, b) => b.verdict.score - a.verdict.score);
  let cpuLibrary: string | undefined;
  const leftOut: { library: string; reason: string }[] = [];
  const fresh: Record<string, Verdict> = {};
  for (const { key, ...rated } of findings) {
    const needsTest = cpuLibrary === undefined && rated.verdict.score > 0 && rated.verdict.state === "untested";
    const { verdict, lasting } = needsTest ? await testVariant(options, rated.verdict) : rated;
    if (lasting && verdict !== known[key]) {
      fresh[key] = verdict;
    }
    if (verdict.state === "works") {
      cpuLibrary ??= verdict.library;
    } else if (verdict.state === "failed") {
      leftOut.push({ library: verdict.library, reason: verdict.reason });
    }
  }
  if (Object.keys(fresh).length > 0) {
    addVerdicts(options.verdictsPath, fresh);
  }
  if (cpuLibrary === undefined) {
    throw new NoCpuLibraryError(options.nativeDirectory, leftOut);
  }
  return { cpuLibrary, leftOut };
}

/** Excludes a variant from now on that passed its self-test but failed later. */
export async function leaveOutCpuLibrary(options: CpuTestOptions, library: string, reason: string): Promise<void> {
  const key = (await variantKeys(options)).get(library);
  if (key === undefined) {
    return;
  }
  const score = readVerdicts(options.verdictsPath)[key]?.score ?? 0;
  addVerdicts(options.verdictsPath, { [key]: { library, score, state: "failed", reason } });
}
