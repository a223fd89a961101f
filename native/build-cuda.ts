import { copyFile, mkdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { type BuildNativeOptions, hardeningFile, nativeDirectory, repository, targetOf } from "./build.ts";
import { progressLines } from "./steps/cmake.ts";
import { cublasFor, fetchCublas } from "./steps/cublas.ts";
import { type CudaToolkit, findCudaToolkit } from "./steps/cuda-toolkit.ts";
import { inCache } from "./steps/in-cache.ts";
import { backendKey } from "./steps/key.ts";
import { backendPatches, prepareBackendSource } from "./steps/source.ts";
import { findTools, runTool } from "./steps/tools.ts";

const library = "libggml-cuda.so";

/** Hopper, the architecture of the H100 and H200. */
export const defaultCudaArchitecture = "90";

/**
 * Splits a list of CUDA architectures, written as nvcc expects them: 75 (Turing), 80 and 86 (Ampere), 89 (Ada),
 * 90 (Hopper), 120 (Blackwell). Each one adds minutes to the build and megabytes to the library.
 * @throws {Error} when an entry is not a CUDA architecture
 */
export function cudaArchitectures(list: string): string[] {
  const architectures = list.split(",").map((each) => each.trim());
  const wrong = architectures.find((each) => !/^\d{2,3}[af]?(?:-real|-virtual)?$/.test(each));
  if (wrong !== undefined) {
    throw new Error(`"${wrong}" is not a CUDA architecture; write for example 86 or 80,86,89,90`);
  }
  return architectures;
}

/**
 * Builds ggml's CUDA backend for this machine's architecture, unless the cache has it. If the CUDA toolkit has no
 * cuBLAS, fetches it into the cache. Logs which libraries the backend needs at run time.
 *
 * @returns a directory that contains only libggml-cuda.so
 * @throws {Error} with the missing tool or the step that failed
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
  const fetched = cublas.pinned === null ? null : await fetchCublas(cublas.pinned, cacheRoot, log);
  const patches = await backendPatches(nativeDirectory, "cuda");
  const more = { architectures, nvcc: toolkit.description, cublas: cublas.key };
  const key = await backendKey({
    nativeDirectory,
    repository,
    tools,
    architecture,
    folder: "cuda",
    files: [...patches, hardeningFile, join(nativeDirectory, "ggml-identity.cmake")],
    more,
  });
  const directory = join(cacheRoot, "native-cuda", key);
  await inCache(directory, log, async (work) => {
    const source = await prepareBackendSource({
      repository,
      nativeDirectory,
      patches,
      backend: "ggml-cuda",
      into: join(work, "source"),
    });
    const out = join(work, "out");
    await runTool(
      [
        tools.cmake,
        ...["-S", join(nativeDirectory, "cuda"), "-B", out],
        ...(tools.ninja === undefined ? [] : ["-G", "Ninja"]),
        ...[`-DGGML_SOURCE=${source}`, `-DCMAKE_CUDA_COMPILER=${toolkit.nvcc}`],
        ...(fetched === null
          ? []
          : [`-DCUDA_cublas_LIBRARY=${fetched.library}`, `-DCUBLAS_HEADERS=${fetched.headers}`]),
        `-DCMAKE_CUDA_ARCHITECTURES=${architectures.join(";")}`,
      ],
      () => {},
    );
    log("native: compiling for CUDA, which takes half an hour or more");
    await runTool(
      [tools.cmake, "--build", out, "--target", "ggml-cuda", "--parallel", String(availableParallelism())],
      progressLines(log),
    );
    const output = join(work, "output");
    await mkdir(output);
    await copyFile(join(out, "bin", library), join(output, library));
    return output;
  });
  const names = ["cublas", "cublasLt"].map((name) => `lib${name}.so.${toolkit.version.major}`).join(" and ");
  const source = fetched === null ? "they are part of the CUDA toolkit" : `they are in ${dirname(fetched.library)}`;
  log(`native: at run time ${library} needs ${names} in the same directory or on the system; ${source}`);
  return directory;
}
