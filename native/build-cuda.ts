import { copyFile, mkdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type BuildNativeOptions, nativeDirectory, repository, targetOf } from "./build.ts";
import { progressLines } from "./steps/cmake.ts";
import { inCache } from "./steps/in-cache.ts";
import { backendKey } from "./steps/key.ts";
import { backendPatches, prepareBackendSource } from "./steps/source.ts";
import { findTools, runTool } from "./steps/tools.ts";

const library = "libggml-cuda.so";

/** That of the H100 and H200. */
export const defaultCudaArchitecture = "90";

/**
 * NVIDIA's numbers of the GPUs' generations, as nvcc takes them: 75 (Turing), 80 and 86 (Ampere), 89 (Ada), 90 (Hopper), 120
 * (Blackwell). Each adds minutes and megabytes.
 * @throws Error for what is none
 */
export function cudaArchitectures(list: string): string[] {
  const architectures = list.split(",").map((each) => each.trim());
  const wrong = architectures.find((each) => !/^\d{2,3}[af]?(?:-real|-virtual)?$/.test(each));
  if (wrong !== undefined) {
    throw new Error(`"${wrong}" is no CUDA architecture; they are written as 86 or as 80,86,89,90`);
  }
  return architectures;
}

/**
 * Builds ggml's CUDA backend for this kind of machine, unless the cache has it.
 *
 * Returns a directory that holds libggml-cuda.so alone; what it needs of CUDA's libraries is the machine's that it runs on. Throws an Error
 * that says what is missing or failed.
 */
export async function buildCuda(
  { cacheRoot, log }: BuildNativeOptions,
  architectures: readonly string[],
  which: (program: string) => string | null = Bun.which,
): Promise<string> {
  const nvcc = which("nvcc");
  if (nvcc === null) {
    throw new Error(
      "cannot build the CUDA backend without nvcc: install NVIDIA's CUDA toolkit, 12.8 or later, and have it on PATH",
    );
  }
  const architecture = process.arch;
  const tools = await findTools(targetOf(architecture));
  const patches = await backendPatches(nativeDirectory, "cuda");
  const more = { architectures, nvcc: await runTool([nvcc, "--version"], () => {}) };
  const keyed = { nativeDirectory, repository, tools, architecture, folder: "cuda" as const, patches, more };
  return await inCache(join(cacheRoot, "native-cuda", await backendKey(keyed)), log, async (work) => {
    const source = await prepareBackendSource({
      ...{ repository, nativeDirectory, patches, backend: "ggml-cuda" },
      into: join(work, "source"),
    });
    const out = join(work, "out");
    await runTool(
      [
        tools.cmake,
        ...["-S", join(nativeDirectory, "cuda"), "-B", out],
        ...(tools.ninja === undefined ? [] : ["-G", "Ninja"]),
        ...[`-DGGML_SOURCE=${source}`, `-DCMAKE_CUDA_COMPILER=${nvcc}`],
        `-DCMAKE_CUDA_ARCHITECTURES=${architectures.join(";")}`,
      ],
      () => {},
    );
    log("native: compiling for CUDA, half an hour and more");
    await runTool(
      [tools.cmake, "--build", out, "--target", "ggml-cuda", "--parallel", String(availableParallelism())],
      progressLines(log),
    );
    const made = join(work, "made");
    await mkdir(made);
    await copyFile(join(out, "bin", library), join(made, library));
    return made;
  });
}
