import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isCpuLibrary as isVariant } from "../whisper/index.ts";
import { attempt, type Outcome } from "./attempt.ts";
import { cpuIdentity } from "./cpu-identity.ts";
import { addVerdicts, readVerdicts, type Verdict } from "./verdicts.ts";

/** A large model on a slow disk, computed without any of the newer instructions. */
const defaultTimeoutMilliseconds = 180_000;

export interface ChooseCpuLibraryOptions {
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
}

interface Result {
  readonly verdict: Verdict;
  /** False: it was found out this once and may be otherwise next time, so it isn't kept. */
  readonly lasting: boolean;
}

interface Finding extends Result {
  readonly key: string;
}

/** The variant to use, and those that failed. */
export interface CpuChoice {
  readonly cpuLibrary: string;
  readonly leftOut: readonly { readonly library: string; readonly reason: string }[];
}

/**
 * Chooses the variant of the CPU backend that ggml rates best and that passes its self-test here.
 *
 * Each is tried in a process of its own, best first, and a crash only means that the next is tried. What was found out
 * is kept for this CPU, model and library, so that later calls start no process at all.
 *
 * @throws Error with the reasons where none works
 */
export async function chooseCpuLibrary(options: ChooseCpuLibraryOptions): Promise<CpuChoice> {
  const known = await readVerdicts(options.verdictsPath);
  const findings: Finding[] = [];
  for (const [library, key] of await verdictKeys(options)) {
    const verdict = known[key];
    findings.push({ key, ...(verdict === undefined ? await rate(options, library) : { verdict, lasting: true }) });
  }
  findings.sort((a, b) => b.verdict.score - a.verdict.score);
  let cpuLibrary: string | undefined;
  const leftOut: { library: string; reason: string }[] = [];
  const fresh: Record<string, Verdict> = {};
  for (const { key, ...rated } of findings) {
    const needsTest = cpuLibrary === undefined && rated.verdict.score > 0 && rated.verdict.state === "untested";
    const { verdict, lasting } = needsTest ? await test(options, rated.verdict) : rated;
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
    await addVerdicts(options.verdictsPath, fresh);
  }
  if (cpuLibrary === undefined) {
    const reasons = leftOut.map(({ library, reason }) => `${library}: ${reason}`).join("; ");
    throw new Error(
      `no CPU backend in ${options.nativeDirectory} works on this machine (${reasons || "there is none"})`,
    );
  }
  return { cpuLibrary, leftOut };
}

/** Leaves a variant out from now on: it passed its self-test and failed later all the same. */
export async function leaveOutCpuLibrary(
  options: ChooseCpuLibraryOptions,
  library: string,
  reason: string,
): Promise<void> {
  const key = (await verdictKeys(options)).get(library);
  if (key === undefined) {
    return;
  }
  const score = (await readVerdicts(options.verdictsPath))[key]?.score ?? 0;
  await addVerdicts(options.verdictsPath, { [key]: { library, score, state: "failed", reason } });
}

/** Asks ggml for its rating, which opens the library; one that crashes at that is out. */
async function rate(options: ChooseCpuLibraryOptions, library: string): Promise<Result> {
  const outcome = await run(options, "score", library);
  return outcome.ok
    ? { verdict: { library, score: Number(outcome.output) || 0, state: "untested", reason: "" }, lasting: true }
    : { verdict: { library, score: 0, state: "failed", reason: outcome.reason }, lasting: outcome.lasting };
}

/** Computes with the variant and the real model. */
async function test(options: ChooseCpuLibraryOptions, rated: Verdict): Promise<Result> {
  const outcome = await run(options, "run", rated.library);
  return outcome.ok
    ? { verdict: { ...rated, state: "works" }, lasting: true }
    : { verdict: { ...rated, state: "failed", reason: outcome.reason }, lasting: outcome.lasting };
}

function run(options: ChooseCpuLibraryOptions, mode: "score" | "run", library: string): Promise<Outcome> {
  const command = [...options.command, mode, options.nativeDirectory, library, options.whisperModel];
  return attempt(command, options.timeoutMilliseconds ?? defaultTimeoutMilliseconds);
}

/** What a verdict holds for: the CPU, the model's file and the library with those it works with, by their content. */
async function verdictKeys(options: ChooseCpuLibraryOptions): Promise<Map<string, string>> {
  const model = await stat(options.whisperModel);
  const common = createHash("sha256");
  common.update(JSON.stringify([options.cpu ?? cpuIdentity(), options.whisperModel, model.size, model.mtimeMs]));
  const names = (await readdir(options.nativeDirectory)).sort();
  for (const name of names.filter((name) => !isVariant(name))) {
    common.update(await readFile(join(options.nativeDirectory, name)));
  }
  const keys = new Map<string, string>();
  for (const library of names.filter(isVariant)) {
    const hash = common.copy().update(await readFile(join(options.nativeDirectory, library)));
    keys.set(library, hash.digest("hex").slice(0, 32));
  }
  return keys;
}
