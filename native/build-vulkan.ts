import { copyFile, link, mkdir, readdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { messageOf } from "../src/text/index.ts";
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
import { findTools, runTool } from "./steps/tools.ts";

const library = "libggml-vulkan.so";

/** Returns the place of the Vulkan backend in the cache, and what it is built from. */
async function vulkanBuild(cacheRoot: string, architecture: string) {
  const target = targetOf(architecture);
  const tools = await findTools(target);
  const patches = await backendPatches(nativeDirectory, "vulkan");
  const key = await backendKey({
    ...{ nativeDirectory, repository, tools, architecture, folder: "vulkan", more: shaderCompilerPackages },
    files: [...patches, hardeningFile],
  });
  return { target, tools, patches, directory: join(cacheRoot, "native-vulkan", key) };
}

/** Returns whether the cache has the Vulkan backend for this machine, so that using it takes no compilation. */
export async function hasVulkan(cacheRoot: string): Promise<boolean> {
  return await exists((await vulkanBuild(cacheRoot, process.arch)).directory);
}

/**
 * Builds ggml's Vulkan backend, unless the cache has it: apart from the addon, so that a change of either leaves the other.
 *
 * Returns a directory that holds libggml-vulkan.so alone. Throws an Error that says what is missing or failed.
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
      ...{ repository, nativeDirectory, patches, backend: "ggml-vulkan" },
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
    log("native: compiling for GPUs, some minutes");
    await runTool(
      [tools.cmake, "--build", out, "--target", "ggml-vulkan", "--parallel", String(availableParallelism())],
      progressLines(log),
    );
    const made = join(work, "made");
    await mkdir(made);
    await copyFile(join(out, "bin", library), join(made, library));
    return made;
  });
}

/**
 * Builds the addon and the GPU backends that can be built here, and puts them together. What keeps one from being
 * built is logged, and the rest does without it.
 *
 * Returns the directory that a program loads them from.
 */
export async function buildNativeWithGpu(
  options: BuildNativeOptions,
  architecture: string = process.arch,
): Promise<string> {
  const native = await buildNative(options, architecture);
  const vulkan = await buildVulkan(options, architecture).catch((error: unknown) => {
    const reason = messageOf(error);
    options.log(`native: WITHOUT the Vulkan backend, so that GPUs are not used: ${reason}`);
  });
  if (vulkan === undefined) return native;
  return await inCache(`${native}-vulkan-${basename(vulkan)}`, options.log, async (work) => {
    const together = join(work, "together");
    await mkdir(together);
    for (const directory of [native, vulkan]) {
      for (const name of await readdir(directory)) await linkOrCopy(join(directory, name), join(together, name));
    }
    return together;
  });
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to));
}
