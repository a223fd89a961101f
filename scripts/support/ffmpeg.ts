import { chmod, readdir, realpath, rename } from "node:fs/promises";
import { join } from "node:path";
import {
  dropCacheEntry,
  makeCacheEntry,
  requireAnswer,
  runCommand,
  unpackWheel,
  type Wheel,
  withTemporaryFolder,
} from "../../src/models/index.ts";
import { digestFile } from "../../src/program/index.ts";
import { messageOf } from "../../src/wording/index.ts";
import { linkIntoBuild, makeBuildFolder, root, type SetupContext } from "./checkout.ts";

const FFMPEG_STATIC = "ffmpeg-static@5.3.0";
/** Where the package's install script downloads from, unless the user names a mirror in the variable that it reads. */
const FFMPEG_STATIC_DOWNLOADS =
  process.env.FFMPEG_BINARIES_URL ?? "https://github.com/eugeneware/ffmpeg-static/releases/download";
/** The install script tries again and again where a server accepts a connection and then says nothing. */
const INSTALL_TIMEOUT_MS = 10 * 60_000;

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

/** Puts an ffmpeg into a temporary folder and returns its path there. */
type FetchFfmpeg = (temporary: string) => Promise<string>;

/**
 * Links an ffmpeg that runs into build/ffmpeg: one that the cache has, else a static build from ffmpeg-static's download
 * or from imageio-ffmpeg, else the system's. Cached ones lie under their SHA-256 and are checked against it.
 */
export async function setUpFfmpeg(context: SetupContext): Promise<void> {
  const path =
    (await findCached(context, "ffmpeg")) ??
    (await findLinked()) ??
    (await fetchStatic(context)) ??
    (await findSystem(context));
  if (!path) throw new Error("ffmpeg can't be had from any source; install it (on Debian: apt install ffmpeg)");
  await makeBuildFolder("ffmpeg");
  await linkIntoBuild("ffmpeg/ffmpeg", path);
  context.log(`ffmpeg: ${await versionOf(path)}`);
}

/** The static build for another kind of machine, by Node's name of it: from the cache, else from imageio-ffmpeg. */
export async function foreignFfmpeg(context: SetupContext, architecture: string): Promise<string> {
  const folder = `ffmpeg-${architecture}`;
  const cached = await findCached(context, folder);
  if (cached) return cached;
  context.log(`ffmpeg: fetching the one for ${architecture}`);
  return await withTemporaryFolder(context.cacheRoot, async (temporary) => {
    const fetched = await fromImageio(temporary, architecture);
    await chmod(fetched, 0o755);
    return await keep(context, folder, fetched);
  });
}

async function findCached({ cacheRoot, log }: SetupContext, folder: string): Promise<string | undefined> {
  const names: string[] = await readdir(join(cacheRoot, folder)).catch(() => []);
  for (const sha256 of names.sort()) {
    const path = join(cacheRoot, folder, sha256, "ffmpeg");
    const found = await digestFile(path, "sha256").catch(() => undefined);
    if (found === sha256) return path;
    log("ffmpeg: the copy in the cache is damaged, it is thrown away");
    await dropCacheEntry(cacheRoot, join(folder, sha256));
  }
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

async function fetchStatic(context: SetupContext): Promise<string | undefined> {
  const { cacheRoot, log } = context;
  const sources: [string, FetchFfmpeg][] = [
    [`the npm package ${FFMPEG_STATIC}`, fromFfmpegStatic],
    ["the Python wheel imageio-ffmpeg", (temporary) => fromImageio(temporary, process.arch)],
  ];
  for (const [name, fetchFfmpeg] of sources) {
    try {
      const path = await withTemporaryFolder(cacheRoot, async (temporary) => {
        const fetched = await fetchFfmpeg(temporary);
        await chmod(fetched, 0o755);
        await versionOf(fetched);
        return await keep(context, "ffmpeg", fetched);
      });
      log(`ffmpeg: from ${name}`);
      return path;
    } catch (error) {
      log(`ffmpeg: not from ${name}: ${messageOf(error)}`);
    }
  }
  return undefined;
}

async function keep({ cacheRoot }: SetupContext, folder: string, fetched: string): Promise<string> {
  const entry = join(folder, await digestFile(fetched, "sha256"));
  return join(await makeCacheEntry(cacheRoot, entry, (path) => rename(fetched, join(path, "ffmpeg"))), "ffmpeg");
}

async function fromFfmpegStatic(temporary: string): Promise<string> {
  await requireAnswer(FFMPEG_STATIC_DOWNLOADS);
  await runCommand([
    ...["npm", "install", "--prefix", temporary, "--ignore-scripts", "--no-save", "--no-package-lock"],
    ...["--no-audit", "--no-fund", "--loglevel=error", FFMPEG_STATIC],
  ]);
  const folder = join(temporary, "node_modules/ffmpeg-static");
  await runCommand(["node", "install.js"], { cwd: folder, timeoutMs: INSTALL_TIMEOUT_MS });
  return join(folder, "ffmpeg");
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
  log(`ffmpeg: the system's, ${path}`);
  return await realpath(path);
}

/** Throws where the program does not run. */
async function versionOf(path: string): Promise<string> {
  const output = await runCommand([path, "-hide_banner", "-version"]);
  return output.match(/^ffmpeg version (\S+)/)?.[1] ?? "of unknown version";
}
