import { copyFile, mkdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { type BuildNativeOptions, hardeningFile, nativeDirectory, repository, targetOf } from "./build.ts";
import { progressLines } from "./steps/cmake.ts";
import { bringCublas, cublasFor } from "./steps/cublas.ts";
import { type CudaToolkit, findCudaToolkit } from "./steps/cuda-toolkit.ts";
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
 * Builds ggml's CUDA backend for this kind of machine, unless the cache has it. cuBLAS, which CUDA's toolkit may have been installed
 * without, is brought into the cache.
 *
 * Returns a directory that holds libggml-cuda.so alone; the log says what has to lie beside it where it computes. Throws an Error
 * that says what is missing or failed.
 */
export async function buildCuda(
  { cacheRoot, log }: BuildNativeOptions,
  architectures: readonly string[],
  findToolkit: () => Promise<CudaToolkit> = findCudaToolkit,
): Promise<string> {
  const toolkit = await findToolkit();
  const architecture = process.arch;
  const tools = await findTools(targetOf(architecture));
  const cublas = await cublasFor(toolkit, join(nativeDirectory, "cuda"));
  const brought = cublas.pinned === null ? null : await bringCublas(cublas.pinned, cacheRoot, log);
  const patches = await backendPatches(nativeDirectory, "cuda");
  const more = { architectures, nvcc: toolkit.description, cublas: cublas.key };
  const key = await backendKey({
    ...{ nativeDirectory, repository, tools, architecture, folder: "cuda", more },
    files: [...patches, hardeningFile, join(nativeDirectory, "ggml-identity.cmake")],
  });
  const directory = join(cacheRoot, "native-cuda", key);
  await inCache(directory, log, async (work) => {
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
        ...[`-DGGML_SOURCE=${source}`, `-DCMAKE_CUDA_COMPILER=${toolkit.nvcc}`],
        ...(brought === null
          ? []
          : [`-DCUDA_cublas_LIBRARY=${brought.library}`, `-DCUBLAS_HEADERS=${brought.headers}`]),
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
  const names = ["cublas", "cublasLt"].map((name) => `lib${name}.so.${toolkit.version.major}`).join(" and ");
  const from = brought === null ? "they are part of the CUDA toolkit" : `they lie in ${dirname(brought.library)}`;
  log(`native: ${library} needs ${names} beside it, or on the system, where it computes: ${from}`);
  return directory;
}
