import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type BuildNativeOptions, nativeDirectory, repository, targetOf } from "./build.ts";
import { inCache } from "./steps/in-cache.ts";
import { backendKey } from "./steps/key.ts";
import { findTools, messageOf, runTool } from "./steps/tools.ts";

const folder = "confine";

/**
 * Options for a static program, which starts at once and loads no library. It is hardened, because it runs next to
 * hostile input.
 */
const COMPILER_OPTIONS = [
  ...["-std=c++17", "-O2", "-Wall", "-Wextra", "-fno-exceptions", "-fno-rtti"],
  ...["-fPIE", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=3"],
  ...["-static-pie", "-Wl,-z,now,-z,relro,--strip-all"],
];

/**
 * Builds the program that confines ffmpeg, unless the cache has it. It is built separately from the addon, so that a
 * change of one does not rebuild the other.
 *
 * @returns the path of the program
 * @throws {Error} with the name of a missing tool or the end of the compiler's output
 */
export async function buildConfine(
  { cacheRoot, log }: BuildNativeOptions,
  architecture: string = process.arch,
): Promise<string> {
  const tools = await findTools(targetOf(architecture));
  const key = await backendKey({
    nativeDirectory,
    repository,
    tools,
    architecture,
    folder,
    files: [],
    more: COMPILER_OPTIONS,
  });
  const directory = await inCache(join(cacheRoot, "native-confine", key), log, async (work) => {
    const output = join(work, "output");
    await mkdir(output);
    // Compiled by its relative name, so that the program contains no path of this machine.
    const command = [tools.compiler, ...COMPILER_OPTIONS, "confine.cpp", "-o", join(output, "confine")];
    await runTool(command, () => {}, join(nativeDirectory, folder)).catch((error: unknown) => {
      throw new Error(
        `cannot build the program that confines ffmpeg; it needs the static C library and the kernel headers ` +
          `(Debian's libc6-dev and linux-libc-dev): ${messageOf(error)}`,
      );
    });
    return output;
  });
  return join(directory, "confine");
}
