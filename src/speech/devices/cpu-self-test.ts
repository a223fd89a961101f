import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isGpuLibrary, isCpuLibrary as isVariant } from "../recognizer/whisper/index.ts";
import { attempt, type Outcome } from "./attempt.ts";
import { cpuIdentity } from "./cpu-identity.ts";
import type { Verdict } from "./verdicts.ts";

/** A large model on a slow disk, computed without any of the newer instructions. */
const defaultTimeoutMilliseconds = 180_000;

export interface CpuTestOptions {
  /** Command line that ends in `runSelfTest` with the arguments that follow. */
  readonly command: readonly string[];
  /** Directory of whisper.node and the variants. */
  readonly nativeDirectory: string;
  /** The whisper model to compute with. */
  readonly whisperModel: string;
  /** JSON file that keeps the verdicts; made when missing. */
  readonly verdictsPath: string;
  /** How long one self-test may take; the model has to be loaded from a slow disk. */
  readonly timeoutMilliseconds?: number;
  /** The CPU in words; this machine's by default. */
  readonly cpu?: string;
  readonly signal?: AbortSignal;
}

/** What was found out about a variant just now. */
export interface Rating {
  readonly verdict: Verdict;
  /** False: it was found out this once and may be otherwise next time, so it isn't kept. */
  readonly lasting: boolean;
}

/** Asks ggml for its rating, which opens the library; one that crashes at that is out. */
export async function rateVariant(options: CpuTestOptions, library: string): Promise<Rating> {
  const outcome = await run(options, "score", library);
  return outcome.ok
    ? { verdict: { library, score: Number(outcome.output) || 0, state: "untested", reason: "" }, lasting: true }
    : { verdict: { library, score: 0, state: "failed", reason: outcome.reason }, lasting: outcome.lasting };
}

/** Computes with the variant and the real model. */
export async function testVariant(options: CpuTestOptions, rated: Verdict): Promise<Rating> {
  const outcome = await runVariant(options, rated.library);
  return outcome.ok
    ? { verdict: { ...rated, state: "works" }, lasting: true }
    : { verdict: { ...rated, state: "failed", reason: outcome.reason }, lasting: outcome.lasting };
}

/** Half a second of work with the variant, in a process of its own; prints a `Timing`. */
export function runVariant(options: CpuTestOptions, library: string): Promise<Outcome> {
  return run(options, "run", library);
}

function run(options: CpuTestOptions, mode: "score" | "run", library: string): Promise<Outcome> {
  const command = [...options.command, mode, options.nativeDirectory, library, options.whisperModel];
  const { timeoutMilliseconds = defaultTimeoutMilliseconds, signal } = options;
  return attempt(command, { timeoutMilliseconds, signal });
}

/** What a verdict holds for: the CPU, the model's file and the library with those it works with, by their content. */
export async function variantKeys(
  options: Pick<CpuTestOptions, "nativeDirectory" | "whisperModel" | "cpu">,
): Promise<Map<string, string>> {
  const model = await stat(options.whisperModel);
  const common = createHash("sha256");
  common.update(JSON.stringify([options.cpu ?? cpuIdentity(), options.whisperModel, model.size, model.mtimeMs]));
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
