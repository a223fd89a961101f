import { copyFile, link, mkdir, readdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { type BuildNativeOptions, buildNative, hardeningFile, nativeDirectory, repository, targetOf } from "./build.ts";
import { crossArguments, progressLines } from "./steps/cmake.ts";
import { exists, inCache } from "./steps/in-cache.ts";
import { backendKey } from "./steps/key.ts";
import {
  fetchShaderCompiler,
  shaderCompilerIn,
  shaderCompilerKey,
  shaderCompilerPackages,
} from "./steps/shader-compiler.ts";
import { backendPatches, prepareBackendSource } from "./steps/source.ts";
import { findTools, messageOf, runTool } from "./steps/tools.ts";

const library = "libggml-vulkan.so";

/** Returns the inputs of the Vulkan backend's build, and the backend's directory in the cache. */
async function vulkanBuild(cacheRoot: string, architecture: string) {
  const target = targetOf(architecture);
  const tools = await findTools(target);
  const patches = await backendPatches(nativeDirectory, "vulkan");
  const key = await backendKey({
    nativeDirectory,
    repository,
    tools,
    architecture,
    folder: "vulkan",
    files: [...patches, hardeningFile],
    more: shaderCompilerPackages,
  });
  return { target, tools, patches, directory: join(cacheRoot, "native-vulkan", key) };
}

/**
 * Builds ggml's Vulkan backend, unless the cache has it. It is built separately from the addon, so that a change of one
 * does not rebuild the other.
 *
 * @returns a directory that contains only libggml-vulkan.so
 * @throws {Error} with the missing tool or the step that failed
 */
export async function buildVulkan(
  { cacheRoot, log }: BuildNativeOptions,
  architecture: string = process.arch,
): Promise<string> {
  const { target, tools, patches, directory } = await vulkanBuild(cacheRoot, architecture);
  return await inCache(directory, log, async (work) => {
    const compiler = shaderCompilerIn(
      await inCache(join(cacheRoot, "shader-compiler", shaderCompilerKey()), log, async (fetched) => {
        log("native: fetching the shader compiler");
        await fetchShaderCompiler(join(fetched, "root"));
        return join(fetched, "root");
      }),
    );
    const source = await prepareBackendSource({
      repository,
      nativeDirectory,
      patches,
      backend: "ggml-vulkan",
      into: join(work, "source"),
    });
    const out = join(work, "out");
    await runTool(
      [
        tools.cmake,
        ...["-S", join(nativeDirectory, "vulkan"), "-B", out],
        ...(tools.ninja === undefined ? [] : ["-G", "Ninja"]),
        ...(target.cross === undefined ? [] : crossArguments(target.cross)),
        ...[`-DGGML_SOURCE=${source}`, `-DVULKAN_HEADERS=${compiler.headers}`],
        `-DVulkan_GLSLC_EXECUTABLE=${compiler.glslc}`,
      ],
      () => {},
    );
    log("native: compiling for Vulkan, which takes a few minutes");
    await runTool(
      [tools.cmake, "--build", out, "--target", "ggml-vulkan", "--parallel", String(availableParallelism())],
      progressLines(log),
    );
    const output = join(work, "output");
    await mkdir(output);
    await copyFile(join(out, "bin", library), join(output, library));
    return output;
  });
}

/**
 * Builds the addon and the Vulkan backend, and combines them in one directory. If the Vulkan backend cannot be built,
 * logs the reason and returns the addon without it.
 *
 * @returns the directory from which a program loads them
 * @throws {Error} when the addon cannot be built
 */
export async function buildNativeWithGpu(
  options: BuildNativeOptions,
  architecture: string = process.arch,
): Promise<string> {
  return await withVulkan(await buildNative(options, architecture), options, architecture);
}

/**
 * Builds what this machine needs: the addon with its CPU variants, and the Vulkan backend if it has a GPU. More is used
 * if the cache has it.
 * @throws {Error} when the addon cannot be built
 */
export async function buildNativeHere(options: BuildNativeOptions, hasGpu: boolean): Promise<string> {
  const native = await buildNative(options, process.arch, true);
  const needsVulkan = hasGpu || (await exists((await vulkanBuild(options.cacheRoot, process.arch)).directory));
  return needsVulkan ? await withVulkan(native, options, process.arch) : native;
}

/** Returns a directory with an addon and the Vulkan backend; the addon's own if that backend cannot be built. */
async function withVulkan(native: string, options: BuildNativeOptions, architecture: string): Promise<string> {
  const vulkan = await buildVulkan(options, architecture).catch((error: unknown) => {
    const reason = messageOf(error);
    options.log(`native: built WITHOUT the Vulkan backend, so GPUs are not used: ${reason}`);
  });
  if (vulkan === undefined) return native;
  return await inCache(`${native}-vulkan-${basename(vulkan)}`, options.log, async (work) => {
    const combined = join(work, "combined");
    await mkdir(combined);
    for (const directory of [native, vulkan]) {
      for (const name of await readdir(directory)) await linkOrCopy(join(directory, name), join(combined, name));
    }
    return combined;
  });
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to));
}
