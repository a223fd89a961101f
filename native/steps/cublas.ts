import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../../src/text/index.ts";
import { type CudaToolkit, type CudaVersion, isNewer } from "./cuda-toolkit.ts";
import { inCache } from "./in-cache.ts";
import { runTool } from "./tools.ts";

/** cuBLAS of a version: NVIDIA's library of matrix products. */
export interface Cublas {
  /** What tells it from another. */
  readonly key: string;
  /** Where it is brought from; none: it is the toolkit's own. */
  readonly pinned: PinnedCublas | null;
}

/** Packages that bring a version of it. */
export interface PinnedCublas {
  /** The oldest toolkit that it is for. */
  readonly cuda: CudaVersion;
  /** For pip, with the packages' checksums. */
  readonly requirements: string;
}

/** Where cuBLAS lies that a toolkit came without. */
export interface BroughtCublas {
  /** Directory of its headers. */
  readonly headers: string;
  /** libcublas.so, under the name that programs ask for. */
  readonly library: string;
}

/**
 * The toolkit's own cuBLAS, else the packages that bring it: the newest of the same CUDA that the toolkit is new enough for.
 * @param directory of the requirements, each named after the oldest toolkit that it is for: cublas-13.0.txt
 * @throws Error that says what to install where there are none
 */
export async function cublasFor(toolkit: CudaToolkit, directory: string): Promise<Cublas> {
  const own = await ownVersion(toolkit);
  if (own !== null) return { key: own, pinned: null };
  const { version } = toolkit;
  const pinned = (await pinnedIn(directory))
    .filter(({ cuda }) => cuda.major === version.major && !isNewer(cuda, version))
    .reduce<PinnedCublas | null>((best, each) => (best === null || isNewer(each.cuda, best.cuda) ? each : best), null);
  if (pinned === null) {
    throw new Error(
      `the CUDA toolkit ${version.major}.${version.minor} comes without cuBLAS, and which packages bring it is not ` +
        `known here: ${ofNvidia(version)}`,
    );
  }
  return { key: pinned.requirements, pinned };
}

/** Brings cuBLAS into the cache by the user's own pip, unless it is there. @throws Error that says how else it can be had */
export async function bringCublas(
  { cuda, requirements }: PinnedCublas,
  cacheRoot: string,
  log: (line: string) => void,
): Promise<BroughtCublas> {
  const digest = createHash("sha256")
    .update(JSON.stringify([process.arch, requirements]))
    .digest("hex");
  const directory = await inCache(join(cacheRoot, "cublas", digest.slice(0, 16)), log, async (work) => {
    log("native: fetching cuBLAS, half a gigabyte");
    const list = join(work, "requirements.txt");
    await writeFile(list, requirements);
    const into = join(work, "packages");
    const pip = ["python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"];
    const wheels = ["--only-binary=:all:", "--no-deps", "--require-hashes", "--no-cache-dir", "--retries=1"];
    try {
      await runTool([...pip, ...wheels, "--target", into, "--requirement", list], () => {});
    } catch (error) {
      throw new Error(`cuBLAS can't be brought by python3 and its pip; ${ofNvidia(cuda)}. ${messageOf(error)}`);
    }
    return into;
  });
  const files = await readdir(directory, { recursive: true });
  const header = files.find((path) => basename(path) === "cublas_v2.h");
  const library = files.find((path) => basename(path) === `libcublas.so.${cuda.major}`);
  if (header === undefined || library === undefined) {
    throw new Error(`${directory} does not hold cuBLAS for CUDA ${cuda.major}: remove it, and it is brought again`);
  }
  return { headers: dirname(join(directory, header)), library: join(directory, library) };
}

function ofNvidia({ major, minor }: CudaVersion): string {
  return `install its development files (NVIDIA's package libcublas-dev-${major}-${minor})`;
}

async function pinnedIn(directory: string): Promise<PinnedCublas[]> {
  const pinned: PinnedCublas[] = [];
  for (const name of await readdir(directory)) {
    const [, major, minor] = /^cublas-(\d+)\.(\d+)\.txt$/.exec(name) ?? [];
    if (major === undefined || minor === undefined) continue;
    const requirements = await readFile(join(directory, name), "utf8");
    pinned.push({ cuda: { major: Number(major), minor: Number(minor) }, requirements });
  }
  return pinned;
}

/** Of the cuBLAS that nvcc finds by itself. */
async function ownVersion({ nvcc }: CudaToolkit): Promise<string | null> {
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
