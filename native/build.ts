import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { crossArguments, progressLines } from "./steps/cmake.ts";
import { allVariants, variantsHere } from "./steps/cpu-variants.ts";
import { exists, inCache } from "./steps/in-cache.ts";
import { nativeKey } from "./steps/key.ts";
import { prepareSource } from "./steps/source.ts";
import { type NativeTarget, targetsOf } from "./steps/target.ts";
import { findTools, type NativeTools, runTool } from "./steps/tools.ts";
import { buildWhisperCli } from "./steps/whisper-cli.ts";

export const nativeDirectory = dirname(fileURLToPath(import.meta.url));
export const repository = dirname(nativeDirectory);
/** The compiler and linker flags of all libraries, including the GPU backends. */
export const hardeningFile = join(nativeDirectory, "hardening.cmake");

/** The cache that a build uses, and the receiver of its log lines. */
export interface BuildNativeOptions {
  /** Directory that builds and checkouts share. Its entries are named by content. */
  cacheRoot: string;
  /** Receives one line at a time. */
  log: (line: string) => void;
}

/** The architectures that this machine can compile for, by Node's names. This machine's own is the first. */
export const nativeArchitectures: readonly string[] = targetsOf(process.arch).map(({ architecture }) => architecture);

/**
 * Builds the whisper addon and its libraries, unless the cache has them.
 *
 * The directory is named by a hash of all inputs and appears atomically. Concurrent or interrupted builds are therefore
 * harmless.
 *
 * @param architecture the machine's own by default
 * @param isForHere whether the CPU variants that this machine needs suffice, unless the cache has all of them
 * @returns the directory of whisper.node, libwhisper.so, libggml*.so and one libggml-cpu-<variant>.so per CPU variant
 * @throws {Error} with the name of a missing tool or the end of the compiler's output
 */
export async function buildNative(
  { cacheRoot, log }: BuildNativeOptions,
  architecture: string = process.arch,
  isForHere = false,
): Promise<string> {
  const target = targetOf(architecture);
  const tools = await findTools(target);
  const directoryOf = async (variants: readonly string[]) =>
    join(cacheRoot, "native", await nativeKey({ nativeDirectory, repository, tools, architecture }, variants));
  const whole = await directoryOf(allVariants(architecture));
  if (isForHere && !(await exists(whole))) {
    const variants = variantsHere(architecture);
    log(`native: CPU variants of this machine: ${variants.join(", ")}`);
    return await inCache(await directoryOf(variants), log, (work) => compile(work, tools, target, variants, log));
  }
  return await inCache(whole, log, (work) => compile(work, tools, target, allVariants(architecture), log));
}

/** Returns the name that `uname -m` prints on a cross-compiled architecture; undefined for this machine's own. */
export function targetMachine(architecture: string): string | undefined {
  return targetOf(architecture).cross?.processor;
}

/**
 * Returns the build target of an architecture.
 * @throws {Error} when this machine cannot compile for the architecture
 */
export function targetOf(architecture: string): NativeTarget {
  const target = targetsOf(process.arch).find((known) => known.architecture === architecture);
  if (target === undefined) throw new Error(`this ${process.arch} machine cannot compile for ${architecture}`);
  return target;
}

/**
 * Builds whisper.cpp's own command line program against the libraries of `buildNative`, for speed comparisons.
 *
 * @returns the path of the program
 */
export async function buildNativeWhisperCli({ cacheRoot, log }: BuildNativeOptions): Promise<string> {
  const libraries = await buildNative({ cacheRoot, log });
  const tools = await findTools(targetOf(process.arch));
  const directory = await inCache(`${libraries}-cli`, log, (work) =>
    buildWhisperCli({ repository, libraries, into: join(work, "cli"), tools }),
  );
  return join(directory, "whisper-cli");
}

async function compile(
  work: string,
  tools: NativeTools,
  { cross }: NativeTarget,
  variants: readonly string[],
  log: (line: string) => void,
): Promise<string> {
  log("native: preparing the source of whisper.cpp");
  const source = await prepareSource({ repository, nativeDirectory, into: join(work, "source") });
  const out = join(work, "out");
  const modules = join(repository, "node_modules");
  await runTool(
    [
      tools.cmake,
      ...["-S", nativeDirectory, "-B", out],
      ...(tools.ninja === undefined ? [] : ["-G", "Ninja"]),
      ...(cross === undefined ? [] : crossArguments(cross)),
      ...[`-DWHISPER_SOURCE=${source}`, `-DGGML_CPU_VARIANTS=${variants.join(";")}`],
      `-DNODE_ADDON_API=${join(modules, "node-addon-api")}`,
      `-DNODE_API_HEADERS=${join(modules, "node-api-headers", "include")}`,
    ],
    () => {},
  );
  log("native: compiling, which takes a few minutes");
  await runTool(
    [tools.cmake, "--build", out, "--target", "addon", "--parallel", String(availableParallelism())],
    progressLines(log),
  );
  return join(out, "bin");
}

/** Returns the cache directory of the current user. */
export function defaultCacheRoot(): string {
  const { TRANSCRIBE_CACHE, XDG_CACHE_HOME, HOME } = process.env;
  return TRANSCRIBE_CACHE ?? join(XDG_CACHE_HOME ?? join(HOME ?? "", ".cache"), "transcribe");
}
