import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type CudaToolkit, type CudaVersion, isNewer } from "./cuda-toolkit.ts";
import { inCache } from "./in-cache.ts";
import { messageOf, runTool } from "./tools.ts";

/** A version of cuBLAS, NVIDIA's library for matrix products. */
export interface Cublas {
  /** Identifies the version; part of the cache key. */
  readonly key: string;
  /** The packages to fetch; null when the toolkit contains cuBLAS. */
  readonly pinned: PinnedCublas | null;
}

/** Pinned packages that contain a version of cuBLAS. */
export interface PinnedCublas {
  /** The oldest CUDA toolkit that this version works with. */
  readonly cuda: CudaVersion;
  /** Requirements file for pip, with the packages' checksums. */
  readonly requirements: string;
}

/** Paths of a cuBLAS that was fetched because the toolkit has none. */
export interface FetchedCublas {
  /** Directory of the headers. */
  readonly headers: string;
  /** Path of libcublas.so.MAJOR, the name that programs load. */
  readonly library: string;
  readonly version: string;
  /** Path of NVIDIA's licence. */
  readonly licence: string;
}

/**
 * Returns the toolkit's own cuBLAS, or else pinned packages. Of several, it chooses the newest with the toolkit's major
 * version that requires no newer toolkit.
 * @param directory contains requirements files, each named by the oldest toolkit that it works with: cublas-13.0.txt
 * @throws {Error} with the package to install when no pinned packages fit
 */
export async function cublasFor(toolkit: CudaToolkit, directory: string): Promise<Cublas> {
  const own = await toolkitCublasVersion(toolkit);
  if (own !== null) return { key: own, pinned: null };
  const { version } = toolkit;
  const pinned = (await readPinned(directory))
    .filter(({ cuda }) => cuda.major === version.major && !isNewer(cuda, version))
    .reduce<PinnedCublas | null>((best, each) => (best === null || isNewer(each.cuda, best.cuda) ? each : best), null);
  if (pinned === null) {
    throw new Error(
      `the CUDA toolkit ${version.major}.${version.minor} comes without cuBLAS, and no packages are pinned for ` +
        `this version: ${installAdvice(version)}`,
    );
  }
  return { key: pinned.requirements, pinned };
}

/**
 * Fetches cuBLAS into the cache with the user's own pip, unless the cache has it.
 * @throws {Error} with another way to install cuBLAS
 */
export async function fetchCublas(
  { cuda, requirements }: PinnedCublas,
  cacheRoot: string,
  log: (line: string) => void,
): Promise<FetchedCublas> {
  const digest = createHash("sha256")
    .update(JSON.stringify([process.arch, requirements]))
    .digest("hex");
  const directory = await inCache(join(cacheRoot, "cublas", digest.slice(0, 16)), log, async (work) => {
    log("native: fetching cuBLAS (half a gigabyte)");
    const list = join(work, "requirements.txt");
    await writeFile(list, requirements);
    const into = join(work, "packages");
    const pip = ["python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"];
    const wheels = ["--only-binary=:all:", "--no-deps", "--require-hashes", "--no-cache-dir", "--retries=1"];
    try {
      await runTool([...pip, ...wheels, "--target", into, "--requirement", list], () => {});
    } catch (error) {
      throw new Error(`cannot fetch cuBLAS with python3 and its pip; ${installAdvice(cuda)}. ${messageOf(error)}`);
    }
    return into;
  });
  const files = await readdir(directory, { recursive: true });
  const header = files.find((path) => basename(path) === "cublas_v2.h");
  const library = files.find((path) => basename(path) === `libcublas.so.${cuda.major}`);
  const licence = files.find((path) => basename(path) === "License.txt");
  const version = /-(\d[\d.]*)\.dist-info\//.exec(licence ?? "")?.[1];
  if (header === undefined || library === undefined || licence === undefined || version === undefined) {
    throw new Error(
      `${directory} does not contain cuBLAS for CUDA ${cuda.major}: remove the directory and run the build again`,
    );
  }
  return {
    headers: dirname(join(directory, header)),
    library: join(directory, library),
    version,
    licence: join(directory, licence),
  };
}

function installAdvice({ major, minor }: CudaVersion): string {
  return `install its development files (NVIDIA's package libcublas-dev-${major}-${minor})`;
}

async function readPinned(directory: string): Promise<PinnedCublas[]> {
  const pinned: PinnedCublas[] = [];
  for (const name of await readdir(directory)) {
    const [, major, minor] = /^cublas-(\d+)\.(\d+)\.txt$/.exec(name) ?? [];
    if (major === undefined || minor === undefined) continue;
    const requirements = await readFile(join(directory, name), "utf8");
    pinned.push({ cuda: { major: Number(major), minor: Number(minor) }, requirements });
  }
  return pinned;
}

/** Returns the version of the cuBLAS that nvcc finds by itself; null when it finds none. */
async function toolkitCublasVersion({ nvcc }: CudaToolkit): Promise<string | null> {
  const directory = await mkdtemp(join(tmpdir(), "cublas-"));
  try {
    const probe = join(directory, "probe.cu");
    await writeFile(probe, "#include <cublas_v2.h>\ncublas CUBLAS_VER_MAJOR CUBLAS_VER_MINOR CUBLAS_VER_PATCH\n");
    const preprocessed = await runTool([nvcc, "-E", probe], () => {}).catch(() => "");
    return /^cublas \d+ \d+ \d+$/m.exec(preprocessed)?.[0] ?? null;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
