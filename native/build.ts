import { mkdir, rm, symlink } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { crossArguments, progressLines } from "./steps/cmake.ts";
import { inCache } from "./steps/in-cache.ts";
import { nativeKey } from "./steps/key.ts";
import { prepareSource } from "./steps/source.ts";
import { type CrossTarget, type NativeTarget, targetsOf } from "./steps/target.ts";
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
 * @returns the directory of whisper.node, libwhisper.so, libggml*.so and one libggml-cpu-<variant>.so per CPU variant
 * @throws {Error} with the name of a missing tool or the end of the compiler's output
 */
export async function buildNative(
  { cacheRoot, log }: BuildNativeOptions,
  architecture: string = process.arch,
): Promise<string> {
  const target = targetOf(architecture);
  const tools = await findTools(target);
  const key = await nativeKey({ nativeDirectory, repository, tools, architecture });
  return await inCache(join(cacheRoot, "native", key), log, (work) => compile(work, tools, target.cross, log));
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
  cross: CrossTarget | undefined,
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
      `-DWHISPER_SOURCE=${source}`,
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

if (import.meta.main) {
  const options = { cacheRoot: defaultCacheRoot(), log: (line: string) => console.error(line) };
  if (process.argv.includes("--whisper-cli")) {
    console.log(await buildNativeWhisperCli(options));
  } else {
    const { buildNativeWithGpu } = await import("./build-vulkan.ts");
    const directory = await buildNativeWithGpu(options);
    const link = join(repository, "build", "native");
    await mkdir(dirname(link), { recursive: true });
    await rm(link, { recursive: true, force: true });
    await symlink(directory, link);
    console.log(directory);
  }
}
