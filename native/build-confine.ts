import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../src/text/index.ts";
import { type BuildNativeOptions, nativeDirectory, repository, targetOf } from "./build.ts";
import { inCache } from "./steps/in-cache.ts";
import { backendKey } from "./steps/key.ts";
import { findTools, runTool } from "./steps/tools.ts";

const folder = "confine";

/** Static, so that it starts at once and opens no library, and hardened as a program is that stands next to hostile input. */
const COMPILER_OPTIONS = [
  ...["-std=c++17", "-O2", "-Wall", "-Wextra", "-fno-exceptions", "-fno-rtti"],
  ...["-fPIE", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=3"],
  ...["-static-pie", "-Wl,-z,now,-z,relro,--strip-all"],
];

/**
 * Builds the program that confines ffmpeg, unless the cache has it: apart from the addon, so that a change of either leaves
 * the other.
 *
 * Returns its path. Throws an Error that names a missing tool, or the end of the compiler's output.
 */
export async function buildConfine(
  { cacheRoot, log }: BuildNativeOptions,
  architecture: string = process.arch,
): Promise<string> {
  const tools = await findTools(targetOf(architecture));
  const key = await backendKey({
    ...{ nativeDirectory, repository, tools, architecture, folder, files: [], more: COMPILER_OPTIONS },
  });
  const directory = await inCache(join(cacheRoot, "native-confine", key), log, async (work) => {
    const made = join(work, "made");
    await mkdir(made);
    // By its name in its own folder: no path of this machine becomes part of it.
    const command = [tools.compiler, ...COMPILER_OPTIONS, "confine.cpp", "-o", join(made, "confine")];
    await runTool(command, () => {}, join(nativeDirectory, folder)).catch((error: unknown) => {
      throw new Error(
        `the program that confines ffmpeg can't be built; it needs the static C library and the kernel's headers ` +
          `(in Debian's libc6-dev and linux-libc-dev): ${messageOf(error)}`,
      );
    });
    return made;
  });
  return join(directory, "confine");
}
