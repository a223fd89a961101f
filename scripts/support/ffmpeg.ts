import { chmod, readdir, realpath, rename } from "node:fs/promises";
import { join } from "node:path";
import { makeCacheEntry, removeCacheEntry, withTemporaryFolder } from "../../src/models/cache-entry.ts";
import { digestFile } from "../../src/program/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { linkIntoBuild, makeBuildFolder, root, type SetupContext } from "./checkout.ts";
import { runCommand } from "./run-command.ts";
import { unpackWheel, type Wheel } from "./wheel.ts";

/**
 * SHA-256 of the ffmpeg in a compiled program, by Node's name of the architecture: BtbN's static builds from the wheels
 * below.
 */
export const pinnedFfmpegDigests: Readonly<Record<string, string>> = {
  x64: "0d709a0bed1a43f24cd2c420878c63afea4580671b6949ad19ed124572f3bc3d",
  arm64: "0b0b5ac30495b4e07ce1321b8d58200f901f57782884a8b6b264c7528c2c9e77",
};

/** PyPI's imageio-ffmpeg carries a static build in its wheels; by Node's name of the processor, with pip's. */
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
 * Links an ffmpeg that runs into build/ffmpeg: the pinned build, from the cache or from PyPI, else the system's. A checkout
 * runs with the system's; scripts/build carries none but the pinned one.
 */
export async function setUpFfmpeg(context: SetupContext): Promise<void> {
  const path =
    (await usable(context, cachedFfmpeg(context, process.arch))) ??
    (await findLinked()) ??
    (await usable(context, fetchedFfmpeg(context, process.arch))) ??
    (await findSystem(context));
  if (!path) throw new Error("ffmpeg can't be had from any source; install it (on Debian: apt install ffmpeg)");
  await makeBuildFolder("ffmpeg");
  await linkIntoBuild("ffmpeg/ffmpeg", path);
  context.log(`ffmpeg: ${await versionOf(path)}`);
}

/** The pinned build where there is one that runs here; logs why not. */
async function usable({ log }: SetupContext, pinned: Promise<string | undefined>): Promise<string | undefined> {
  try {
    const path = await pinned;
    if (path !== undefined) await versionOf(path);
    return path;
  } catch (error) {
    log(`ffmpeg: the pinned build can't be used: ${messageOf(error)}`);
    return undefined;
  }
}

/**
 * Returns the pinned build for an architecture, by Node's name: from the cache, else from PyPI.
 * @throws Error where there is none for it, or what PyPI brings is another
 */
export async function fetchedFfmpeg(context: SetupContext, architecture: string): Promise<string> {
  const cached = await cachedFfmpeg(context, architecture);
  if (cached) return cached;
  context.log(`ffmpeg: fetching the one for ${architecture}`);
  return await withTemporaryFolder(context.cacheRoot, async (temporary) => {
    const fetched = await fromImageio(temporary, architecture);
    await chmod(fetched, 0o755);
    return await store(context, architecture, fetched);
  });
}

/** Returns the cache's copy of the pinned build. Entries with other digests may come from anywhere and are not looked at. */
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
  log("ffmpeg: the copy in the cache is damaged and is removed");
  await removeCacheEntry(cacheRoot, entryOf(pinned));
  return undefined;
}

/** The system's, where an earlier setup had to take it: what could not be fetched then is not tried every time anew. */
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
    throw new Error(`the wheel's ffmpeg has the SHA-256 ${sha256}, not the pinned one`);
  }
  const entry = await makeCacheEntry(cacheRoot, entryOf(sha256), (path) => rename(fetched, join(path, "ffmpeg")));
  return join(entry, "ffmpeg");
}

function entryOf(sha256: string): string {
  return join("ffmpeg", sha256);
}

async function fromImageio(temporary: string, architecture: string): Promise<string> {
  const wheel = IMAGEIO_WHEELS[architecture];
  if (!wheel) throw new Error(`it has no build for ${architecture}`);
  const { platform, ...native } = wheel;
  const unpacked = join(temporary, "unpacked");
  // pip asks the machine what it can run, except where another one is meant.
  await unpackWheel(architecture === process.arch ? native : wheel, { downloads: temporary, unpacked });
  const folder = join(unpacked, "imageio_ffmpeg/binaries");
  const binary = (await readdir(folder)).find((name) => name.startsWith("ffmpeg-linux-"));
  if (!binary) throw new Error("the wheel has no ffmpeg in it");
  return join(folder, binary);
}

async function findSystem({ log }: SetupContext): Promise<string | undefined> {
  const path = Bun.which("ffmpeg");
  if (!path) return undefined;
  await versionOf(path);
  log(`ffmpeg: the system's, ${path}; scripts/build can't carry it`);
  return await realpath(path);
}

/** Throws where the program does not run. */
async function versionOf(path: string): Promise<string> {
  const output = await runCommand([path, "-hide_banner", "-version"]);
  return output.match(/^ffmpeg version (\S+)/)?.[1] ?? "of unknown version";
}
