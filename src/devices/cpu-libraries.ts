import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { isCpuLibrary, isGpuLibrary } from "../runtimes/index.ts";
import { textOf } from "./gpu-presence.ts";
import { runSelfTest, type SelfTestOptions } from "./run-self-test.ts";
import type { SelfTestAnswer } from "./self-tests.ts";
import { addVerdicts, readVerdicts, shortDigest, type Verdict } from "./verdicts.ts";

export interface CpuTestOptions extends SelfTestOptions {
  /** Directory of the addon and the CPU variants. */
  readonly nativeDirectory: string;
  /** Path of the speech model for the self-test. */
  readonly speechModel: string;
  /** JSON file that stores the verdicts; created if missing. */
  readonly verdictsPath: string;
  /** The only variant that is considered, see the setting; `auto`, the default: all of them. */
  readonly cpuVariant?: string;
  /** Identity of the CPU; this machine's by default. */
  readonly cpu?: string;
}

/** A variant that failed. */
interface LeftOut {
  readonly library: string;
  readonly reason: string;
}

/** The chosen variant, and the variants that failed. */
export interface CpuChoice {
  readonly cpuLibrary: string;
  readonly leftOut: readonly LeftOut[];
}

/** The value of the setting with which all variants are considered. */
const ANY_CPU_VARIANT = "auto";

/** Error if no variant works with a model; holds the reason for each variant. */
export class NoCpuLibraryError extends Error {
  override readonly name = "NoCpuLibraryError";

  constructor(
    { nativeDirectory, cpuVariant = ANY_CPU_VARIANT }: Pick<CpuTestOptions, "nativeDirectory" | "cpuVariant">,
    readonly leftOut: readonly LeftOut[],
  ) {
    const reasons = leftOut.map(({ library, reason }) => `${library}: ${reason}`).join("; ");
    const limit = cpuVariant === ANY_CPU_VARIANT ? "" : `; engine.cpu_variant allows only ${cpuVariant}`;
    super(`no CPU backend in ${nativeDirectory} works on this machine (${reasons || "there is none"})${limit}`);
  }
}

/** Returns the name of a variant: libggml-cpu-zen4.so → zen4. */
export function cpuVariantOf(library: string): string {
  return library.replace(/^libggml-cpu-(.+)\.so$/, "$1");
}

function isAllowed({ cpuVariant = ANY_CPU_VARIANT }: Pick<CpuTestOptions, "cpuVariant">, library: string): boolean {
  return cpuVariant === ANY_CPU_VARIANT || cpuVariantOf(library) === cpuVariant;
}

/**
 * Checks that this build has the variant of the setting and that this CPU supports it. It is not self-tested.
 * @throws {Error} with the variants that can be used
 */
export async function requireCpuVariant(
  options: Pick<CpuTestOptions, "nativeDirectory" | "cpuVariant" | keyof SelfTestOptions>,
): Promise<void> {
  const { cpuVariant = ANY_CPU_VARIANT } = options;
  if (cpuVariant === ANY_CPU_VARIANT) return;
  const libraries = (await readdir(options.nativeDirectory)).filter(isCpuLibrary).sort();
  const wanted = libraries.find((library) => isAllowed(options, library));
  const reason = wanted === undefined ? "this build has no such CPU variant" : await lackOf(options, wanted);
  if (reason === null) return;
  const verdicts: Verdict[] = [];
  for (const library of libraries) verdicts.push((await rate(options, library)).verdict);
  const available = verdicts.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score);
  const names = available.map(({ library }) => cpuVariantOf(library)).join(", ") || "none";
  throw new Error(
    `engine.cpu_variant is ${JSON.stringify(cpuVariant)}, but ${reason}. Available here, fastest first: ${names}. Set one of these names, or ${ANY_CPU_VARIANT} for the fastest`,
  );
}

/** Returns the reason why this CPU cannot run a variant; null if it can. */
async function lackOf(options: RatingOptions, library: string): Promise<string | null> {
  const { score, state, reason } = (await rate(options, library)).verdict;
  if (state === "failed") return `this variant cannot be opened: ${reason}`;
  return score > 0 ? null : "this processor lacks instructions of this variant";
}

/**
 * Chooses the variant of the CPU backend with the best rating by ggml that passes its self-test with every model,
 * because a worker uses one variant for all of them. @throws as chooseCpuLibrary
 */
export async function chooseCpuLibraryFor(
  options: Omit<CpuTestOptions, "speechModel">,
  speechModels: readonly string[],
): Promise<CpuChoice> {
  const excluded: LeftOut[] = [];
  for (;;) {
    const choices: CpuChoice[] = [];
    for (const speechModel of speechModels) {
      choices.push(
        await chooseCpuLibrary(
          { ...options, speechModel },
          excluded.map(({ library }) => library),
        ),
      );
    }
    const [first, ...others] = choices;
    if (first === undefined) throw new RangeError("there is no model to choose a CPU variant for");
    const leftOut = choices.flatMap((choice) => choice.leftOut);
    const failing = leftOut.find(({ library }) => choices.some((choice) => choice.cpuLibrary === library));
    if (failing === undefined || others.length === 0) {
      const byLibrary = new Map([...leftOut, ...excluded].map((each) => [each.library, each]));
      return { cpuLibrary: first.cpuLibrary, leftOut: [...byLibrary.values()] };
    }
    // This variant is the best for one model and fails with another.
    excluded.push(failing);
  }
}

/**
 * Chooses the best variant for one model. Tests the variants in separate processes, best first, until one passes.
 * Stores the results, so that later calls start no process.
 * @throws {Error} if the variant of the setting cannot be used here
 * @throws {NoCpuLibraryError} if no variant works
 */
export async function chooseCpuLibrary(options: CpuTestOptions, excluded: readonly string[] = []): Promise<CpuChoice> {
  const known = readVerdicts(options.verdictsPath);
  const findings: (Rating & { readonly key: string })[] = [];
  for (const [library, key] of await cpuLibraryKeys(options)) {
    if (excluded.includes(library) || !isAllowed(options, library)) continue;
    const verdict = known[key];
    const rating = verdict === undefined ? await rate(options, library) : { verdict, lasting: true };
    findings.push({ key, ...rating });
  }
  if (!findings.some(({ verdict }) => verdict.score > 0 || verdict.state === "failed")) {
    await requireCpuVariant(options);
  }
  let cpuLibrary: string | undefined;
  const leftOut: LeftOut[] = [];
  const fresh: Record<string, Verdict> = {};
  for (const { key, ...rating } of findings.toSorted((a, b) => b.verdict.score - a.verdict.score)) {
    const needsTest = cpuLibrary === undefined && rating.verdict.score > 0 && rating.verdict.state === "untested";
    const { verdict, lasting } = needsTest ? await test(options, rating.verdict) : rating;
    if (lasting && verdict !== known[key]) fresh[key] = verdict;
    if (verdict.state === "works") cpuLibrary ??= verdict.library;
    else if (verdict.state === "failed") leftOut.push({ library: verdict.library, reason: verdict.reason });
  }
  addVerdicts(options.verdictsPath, fresh);
  if (cpuLibrary === undefined) throw new NoCpuLibraryError(options, leftOut);
  return { cpuLibrary, leftOut };
}

/** Excludes a variant from now on that passed its self-test but failed later. */
export async function leaveOutCpuLibrary(options: CpuTestOptions, library: string, reason: string): Promise<void> {
  const key = (await cpuLibraryKeys(options)).get(library);
  if (key === undefined) return;
  const score = readVerdicts(options.verdictsPath)[key]?.score ?? 0;
  addVerdicts(options.verdictsPath, { [key]: { library, score, state: "failed", reason } });
}

/** State of a variant, from its stored verdict and a self-test just now. */
export interface CpuVariant {
  /** File name, such as libggml-cpu-zen4.so. */
  readonly library: string;
  /** Name for people and the setting, such as zen4. */
  readonly name: string;
  /** ggml's rating for this CPU; 0 if the variant does not support this CPU. */
  readonly score: number;
  /** Whether the setting allows it. */
  readonly isAllowed: boolean;
  /** Reason from the stored verdict why the server excludes the variant; null if it does not. */
  readonly leftOut: string | null;
  /** Result of the self-test just now; null if it was not tested. */
  readonly test:
    | ({ readonly ok: true } & SelfTestAnswer<"computeOnCpu">)
    | { readonly ok: false; readonly reason: string }
    | null;
}

/**
 * Tests the variants that the setting allows, best first, until one works that the server does not exclude; with `all`,
 * every variant that this CPU supports. Stores no verdicts. @returns the variant that a server would use, and all variants, best first
 */
export async function surveyCpuLibraries(
  options: CpuTestOptions & { readonly all: boolean },
): Promise<{ readonly used: string | null; readonly variants: readonly CpuVariant[] }> {
  const stored = readVerdicts(options.verdictsPath);
  const rated: { verdict: Verdict; leftOut: string | null }[] = [];
  for (const [library, key] of await cpuLibraryKeys(options)) {
    const known = stored[key];
    const { verdict } = await rate(options, library);
    rated.push({ verdict, leftOut: known?.state === "failed" ? known.reason : null });
  }
  let used: string | null = null;
  const variants: CpuVariant[] = [];
  for (const { verdict, leftOut } of rated.toSorted((a, b) => b.verdict.score - a.verdict.score)) {
    const { library, score, state, reason } = verdict;
    let result: CpuVariant["test"] = state === "failed" ? { ok: false, reason } : null;
    const allowed = isAllowed(options, library);
    if (score > 0 && (options.all || (allowed && used === null && leftOut === null))) {
      const computed = await runSelfTest("computeOnCpu", { ...options, cpuLibrary: library });
      result = computed.ok ? { ok: true, ...computed.answer } : { ok: false, reason: computed.reason };
    }
    if (result?.ok === true && allowed && leftOut === null) used ??= library;
    variants.push({ library, name: cpuVariantOf(library), score, isAllowed: allowed, leftOut, test: result });
  }
  return { used, variants };
}

interface Rating {
  readonly verdict: Verdict;
  /** Whether a retry would give the same result; if false, the verdict is not stored. */
  readonly lasting: boolean;
}

type RatingOptions = Pick<CpuTestOptions, "nativeDirectory" | keyof SelfTestOptions>;

/** Returns ggml's rating of a variant. Rating loads the library; a variant that crashes in this step has failed. */
async function rate(options: RatingOptions, library: string): Promise<Rating> {
  const result = await runSelfTest("rateCpuLibrary", { ...options, cpuLibrary: library });
  return result.ok
    ? { verdict: { library, score: result.answer.score, state: "untested", reason: "" }, lasting: true }
    : { verdict: { library, score: 0, state: "failed", reason: result.reason }, lasting: result.lasting };
}

/** Tests a variant with the real model. */
async function test(options: CpuTestOptions, rated: Verdict): Promise<Rating> {
  const result = await runSelfTest("computeOnCpu", { ...options, cpuLibrary: rated.library });
  return result.ok
    ? { verdict: { ...rated, state: "works" }, lasting: true }
    : { verdict: { ...rated, state: "failed", reason: result.reason }, lasting: result.lasting };
}

/** Returns each variant's verdict key, which covers the CPU, the model's file and the contents of the libraries. */
export async function cpuLibraryKeys({
  nativeDirectory,
  speechModel,
  cpu = cpuIdentity(),
}: Pick<CpuTestOptions, "nativeDirectory" | "speechModel" | "cpu">): Promise<Map<string, string>> {
  const { size, mtimeMs } = await stat(speechModel);
  const common = createHash("sha256").update(JSON.stringify([cpu, speechModel, size, mtimeMs]));
  const names = (await readdir(nativeDirectory)).sort();
  for (const name of names.filter((name) => !isCpuLibrary(name) && !isGpuLibrary(name))) {
    common.update(await readFile(join(nativeDirectory, name)));
  }
  const keys = new Map<string, string>();
  for (const library of names.filter(isCpuLibrary)) {
    keys.set(library, shortDigest(common.copy().update(await readFile(join(nativeDirectory, library)))));
  }
  return keys;
}

/** Returns a text that identifies this CPU's instruction set: model and feature flags. */
export function cpuIdentity(): string {
  // "flags" on x86, "Features" on arm64
  const features = /^(?:flags|Features)\s*:\s*(.*)$/m.exec(textOf("/proc/cpuinfo"))?.[1] ?? "";
  return `${process.arch} ${cpus()[0]?.model ?? ""} ${features}`;
}
