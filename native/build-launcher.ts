import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { type BuildNativeOptions, nativeDirectory, repository, targetOf } from "./build.ts";
import { type DebianSource, debianSource, unpackSource } from "./steps/debian-sources.ts";
import { inCache } from "./steps/in-cache.ts";
import { backendKey } from "./steps/key.ts";
import { findTools, runTool } from "./steps/tools.ts";

const folder = "launcher";

/** The source of zstd, from Debian 13. Debian's version of it lacks only parts that are not compiled here. */
export const zstdSource = {
  name: "Zstandard",
  version: "1.5.7",
  path: "libz/libzstd/libzstd_1.5.7+dfsg.orig.tar.xz",
  sha256: "0c092ef267edce57ba7f3f2645c861f72eaf5e76273c6c3632869423464b90a5",
} as const satisfies DebianSource;

/** The decoder, without code in assembly and formats before version 0.8. */
const DECODER_FILES = [
  ...["debug", "entropy_common", "error_private", "fse_decompress", "xxhash", "zstd_common"].map(
    (name) => `lib/common/${name}.c`,
  ),
  ...["huf_decompress", "zstd_ddict", "zstd_decompress", "zstd_decompress_block"].map(
    (name) => `lib/decompress/${name}.c`,
  ),
];
const DECODER_OPTIONS = ["-DZSTD_DISABLE_ASM", "-DZSTD_LEGACY_SUPPORT=0"];

/** Options for a hardened static program, like those of native/build-confine.ts. It starts at once, on any Linux. */
const COMPILER_OPTIONS = [
  ...["-O2", "-Wall", "-Wextra", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"],
  ...["-fPIE", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=3", ...DECODER_OPTIONS],
  ...["-static-pie", "-Wl,-z,now,-z,relro,-z,noexecstack,--gc-sections,--strip-all"],
];

/**
 * Builds the launcher, unless the cache has it. It is the start of the product's file and unpacks the rest.
 *
 * @returns the path of the launcher
 * @throws {Error} with the missing tool, the source that cannot be fetched or the end of the compiler's output
 */
export async function buildLauncher(
  { cacheRoot, log }: BuildNativeOptions,
  architecture: string = process.arch,
): Promise<string> {
  const target = targetOf(architecture);
  const tools = await findTools(target);
  const key = await backendKey({
    ...{ nativeDirectory, repository, tools, architecture, folder, files: [] },
    more: [zstdSource, DECODER_FILES, COMPILER_OPTIONS],
  });
  const directory = await inCache(join(cacheRoot, "native-launcher", key), log, async (work) => {
    const source = await unpackSource(await debianSource(zstdSource, cacheRoot, log), work);
    const output = join(work, "output");
    await mkdir(output);
    // Compiled by relative names, so that the launcher contains no path of this machine. The C compiler also compiles
    // C++, and links no C++ library.
    const command = [
      ...[target.cross?.cCompiler ?? "cc", ...COMPILER_OPTIONS, `-I${join(source, "lib")}`],
      ...[`-ffile-prefix-map=${source}=${basename(source)}`, "launcher.cpp"],
      ...DECODER_FILES.map((path) => join(source, path)),
      ...["-o", join(output, folder)],
    ];
    await runTool(command, () => {}, join(nativeDirectory, folder));
    return output;
  });
  return join(directory, folder);
}
