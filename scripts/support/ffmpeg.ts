import { chmod, readdir, realpath, rename } from "node:fs/promises";
import { join } from "node:path";
import { makeCacheEntry, removeCacheEntry, withTemporaryFolder } from "../../src/models/cache-entry.ts";
import { digestFile } from "../../src/program/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { linkIntoBuild, makeBuildFolder, root, type SetupContext } from "./checkout.ts";
import { runCommand } from "./run-command.ts";
import { unpackWheel, type Wheel } from "./wheel.ts";

/**
 * SHA-256 of the ffmpeg in a compiled program, by Node's architecture name: BtbN's static builds from the wheels below.
 */
export const pinnedFfmpegDigests: Readonly<Record<string, string>> = {
  x64: "0d709a0bed1a43f24cd2c420878c63afea4580671b6949ad19ed124572f3bc3d",
  arm64: "0b0b5ac30495b4e07ce1321b8d58200f901f57782884a8b6b264c7528c2c9e77",
};

/** Wheels of PyPI's imageio-ffmpeg, which contain a static build, by Node's architecture name. */
const IMAGEIO_WHEELS: Readonly<Record<string, Wheel>> = {
  x64: {
    platform: "manylinux_2_28_x86_64",
    requirement: "imageio-ffmpeg==0.8.1",
    file: "imageio_ffmpeg-0.8.1-py3-none-manylinux_2_28_x86_64.whl",
    sha256: "050d6850601c3b3890bd2b28306f3b842b3daea390a561101174375a1c460bda",
  },
  arm64: {
    platform: "manylinux_2_28_aarch64",
    requirement: "imageio-ffmpeg==0.8.1",
    file: "imageio_ffmpeg-0.8.1-py3-none-manylinux_2_28_aarch64.whl",
    sha256: "fad3176f859b25869e60a8ed79957d4e3ed74a97a95e5f0cdcb91455f6c6d00e",
  },
};

/**
 * Links a working ffmpeg into build/ffmpeg: the pinned build from the cache or from PyPI, else the system's. A checkout
 * can use the system's ffmpeg; scripts/build includes only the pinned one.
 */
export async function setUpFfmpeg(context: SetupContext): Promise<void> {
  const path =
    (await usable(context, cachedFfmpeg(context, process.arch))) ??
    (await findLinked()) ??
    (await usable(context, fetchedFfmpeg(context, process.arch))) ??
    (await findSystem(context));
  if (!path) throw new Error("ffmpeg is not available from any source; install it (on Debian: apt install ffmpeg)");
  await makeBuildFolder("ffmpeg");
  await linkIntoBuild("ffmpeg/ffmpeg", path);
  context.log(`ffmpeg: ${await versionOf(path)}`);
}

/** Returns the pinned build if it runs on this machine; logs the reason otherwise. */
async function usable({ log }: SetupContext, pinned: Promise<string | undefined>): Promise<string | undefined> {
  try {
    const path = await pinned;
    if (path !== undefined) await versionOf(path);
    return path;
  } catch (error) {
    log(`ffmpeg: the pinned build cannot be used: ${messageOf(error)}`);
    return undefined;
  }
}

/**
 * Returns the pinned build for an architecture, by Node's name: from the cache, else from PyPI.
 * @throws {Error} when there is no build for it, or PyPI provides a different file
 */
export async function fetchedFfmpeg(context: SetupContext, architecture: string): Promise<string> {
  const cached = await cachedFfmpeg(context, architecture);
  if (cached) return cached;
  context.log(`ffmpeg: fetching the build for ${architecture}`);
  return await withTemporaryFolder(context.cacheRoot, async (temporary) => {
    const fetched = await fromImageio(temporary, architecture);
    await chmod(fetched, 0o755);
    return await store(context, architecture, fetched);
  });
}

/** Returns the cache's copy of the pinned build. Ignores entries with other digests, whose origin is unknown. */
export async function cachedFfmpeg(
  { cacheRoot, log }: SetupContext,
  architecture: string,
): Promise<string | undefined> {
  const pinned = pinnedFfmpegDigests[architecture];
  if (pinned === undefined) return undefined;
  const path = join(cacheRoot, entryOf(pinned), "ffmpeg");
  const found = await digestFile(path, "sha256").catch(() => undefined);
  if (found === pinned) return path;
  if (found === undefined) return undefined;
  log("ffmpeg: the damaged copy in the cache is removed");
  await removeCacheEntry(cacheRoot, entryOf(pinned));
  return undefined;
}

/**
 * Returns the system's ffmpeg if an earlier setup linked it, so that a failed download is not repeated on every setup.
 */
async function findLinked(): Promise<string | undefined> {
  const linked = await realpath(join(root, "build/ffmpeg/ffmpeg")).catch(() => undefined);
  const system = Bun.which("ffmpeg");
  if (!linked || !system || linked !== (await realpath(system))) return undefined;
  await versionOf(linked);
  return linked;
}

async function store({ cacheRoot }: SetupContext, architecture: string, fetched: string): Promise<string> {
  const sha256 = await digestFile(fetched, "sha256");
  if (sha256 !== pinnedFfmpegDigests[architecture]) {
    throw new Error(`the wheel's ffmpeg has the SHA-256 ${sha256}, which is not pinned`);
  }
  const entry = await makeCacheEntry(cacheRoot, entryOf(sha256), (path) => rename(fetched, join(path, "ffmpeg")));
  return join(entry, "ffmpeg");
}

function entryOf(sha256: string): string {
  return join("ffmpeg", sha256);
}

async function fromImageio(temporary: string, architecture: string): Promise<string> {
  const wheel = IMAGEIO_WHEELS[architecture];
  if (!wheel) throw new Error(`imageio-ffmpeg has no build for ${architecture}`);
  const { platform, ...native } = wheel;
  const unpacked = join(temporary, "unpacked");
  // pip selects the wheel for this machine itself; only a foreign one is selected explicitly.
  await unpackWheel(architecture === process.arch ? native : wheel, { downloads: temporary, unpacked });
  const folder = join(unpacked, "imageio_ffmpeg/binaries");
  const binary = (await readdir(folder)).find((name) => name.startsWith("ffmpeg-linux-"));
  if (!binary) throw new Error("the wheel contains no ffmpeg");
  return join(folder, binary);
}

async function findSystem({ log }: SetupContext): Promise<string | undefined> {
  const path = Bun.which("ffmpeg");
  if (!path) return undefined;
  await versionOf(path);
  log(`ffmpeg: the system's, ${path}; scripts/build cannot include it`);
  return await realpath(path);
}

/** Returns the version of an ffmpeg. @throws {CommandError} when it does not run */
async function versionOf(path: string): Promise<string> {
  const output = await runCommand([path, "-hide_banner", "-version"]);
  return output.match(/^ffmpeg version (\S+)/)?.[1] ?? "of unknown version";
}
