import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isGpuLibrary, isCpuLibrary as isVariant } from "../ggml.ts";
import { attempt, type Outcome } from "./attempt.ts";
import { cpuIdentity } from "./cpu-identity.ts";
import type { Verdict } from "./verdicts.ts";

/** Enough for a large model on a slow disk, computed without newer CPU instructions. */
const defaultTimeoutMilliseconds = 180_000;

export interface CpuTestOptions {
  /** Command line that runs `runSelfTest` with the arguments appended to it. */
  readonly command: readonly string[];
  /** Directory of the addon and the CPU variants. */
  readonly nativeDirectory: string;
  /** Path of the speech model for the self-test. */
  readonly speechModel: string;
  /** JSON file that stores the verdicts; created if missing. */
  readonly verdictsPath: string;
  /** Time limit of one self-test, which may have to load the model from a slow disk. */
  readonly timeoutMilliseconds?: number;
  /** Identity of the CPU; this machine's by default. */
  readonly cpu?: string;
  readonly signal?: AbortSignal;
}

/** Result of a self-test of a variant. */
export interface Rating {
  readonly verdict: Verdict;
  /** Whether a retry would give the same result; if false, the verdict is not stored. */
  readonly lasting: boolean;
}

/** Returns ggml's rating of a variant. Rating loads the library; a variant that crashes in this step has failed. */
export async function rateVariant(options: CpuTestOptions, library: string): Promise<Rating> {
  const outcome = await run(options, "score", library);
  return outcome.ok
    ? { verdict: { library, score: Number(outcome.output) || 0, state: "untested", reason: "" }, lasting: true }
    : { verdict: { library, score: 0, state: "failed", reason: outcome.reason }, lasting: outcome.lasting };
}

/** Tests a variant with the real model. */
export async function testVariant(options: CpuTestOptions, rated: Verdict): Promise<Rating> {
  const outcome = await runVariant(options, rated.library);
  return outcome.ok
    ? { verdict: { ...rated, state: "works" }, lasting: true }
    : { verdict: { ...rated, state: "failed", reason: outcome.reason }, lasting: outcome.lasting };
}

/** Transcribes half a second with the variant in a separate process, which prints a `Timing`. */
export function runVariant(options: CpuTestOptions, library: string): Promise<Outcome> {
  return run(options, "run", library);
}

function run(options: CpuTestOptions, mode: "score" | "run", library: string): Promise<Outcome> {
  const command = [...options.command, mode, options.nativeDirectory, library, options.speechModel];
  const { timeoutMilliseconds = defaultTimeoutMilliseconds, signal } = options;
  return attempt(command, { timeoutMilliseconds, signal });
}

/**
 * Returns the verdict key of each variant. It is a hash of the CPU, the model's file (path, size and time of change)
 * and the contents of the libraries.
 */
export async function variantKeys(
  options: Pick<CpuTestOptions, "nativeDirectory" | "speechModel" | "cpu">,
): Promise<Map<string, string>> {
  const model = await stat(options.speechModel);
  const common = createHash("sha256");
  common.update(JSON.stringify([options.cpu ?? cpuIdentity(), options.speechModel, model.size, model.mtimeMs]));
  const names = (await readdir(options.nativeDirectory)).sort();
  for (const name of names.filter((name) => !isVariant(name) && !isGpuLibrary(name))) {
    common.update(await readFile(join(options.nativeDirectory, name)));
  }
  const keys = new Map<string, string>();
  for (const library of names.filter(isVariant)) {
    const hash = common.copy().update(await readFile(join(options.nativeDirectory, library)));
    keys.set(library, hash.digest("hex").slice(0, 32));
  }
  return keys;
}
