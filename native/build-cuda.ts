import { copyFile, mkdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, dirname, join } from "node:path";
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

/** ggml's CUDA backend, and what of NVIDIA it needs at run time besides the driver. */
export interface CudaBackend {
  readonly library: string;
  /** Paths of libcublas.so.MAJOR and libcublasLt.so.MAJOR. */
  readonly cublas: readonly string[];
  readonly cublasVersion: string;
  /** Path of cuBLAS' licence. */
  readonly licence: string;
}

/**
 * Builds ggml's CUDA backend for this machine's architecture, unless the cache has it. If the CUDA toolkit has no
 * cuBLAS, fetches it into the cache. Logs which libraries the backend needs at run time.
 *
 * @throws {Error} with the missing tool or the step that failed
 */
export async function buildCuda(
  { cacheRoot, log }: BuildNativeOptions,
  architectures: readonly string[],
  findToolkit: () => Promise<CudaToolkit> = findCudaToolkit,
): Promise<CudaBackend> {
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
  const home = dirname(dirname(toolkit.nvcc));
  const folder = fetched === null ? join(home, "lib64") : dirname(fetched.library);
  const needed = ["cublas", "cublasLt"].map((name) => join(folder, `lib${name}.so.${toolkit.version.major}`));
  const names = needed.map((path) => basename(path)).join(" and ");
  log(`native: at run time ${library} needs ${names} in the same directory or on the system; they are in ${folder}`);
  return {
    library: join(directory, library),
    cublas: needed,
    cublasVersion: fetched?.version ?? cublas.key.replace("cublas ", "").replaceAll(" ", "."),
    licence: fetched?.licence ?? join(home, "EULA.txt"),
  };
}
