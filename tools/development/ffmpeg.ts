import { chmod, readdir, realpath, rename } from "node:fs/promises";
import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { buildFfmpeg, builtFfmpeg } from "../../native/build-ffmpeg.ts";
import { makeCacheEntry, removeCacheEntry, withTemporaryFolder } from "../../src/files/index.ts";
import { digestFile } from "../../src/program/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { linkIntoBuild, makeBuildFolder, type SetupContext } from "../shared/checkout.ts";
import { runCommand } from "../shared/run-command.ts";
import { unpackWheel, type Wheel } from "../shared/wheel.ts";

// A checkout has two programs. `build/ffmpeg/ffmpeg` decodes recordings; it is compiled from pinned sources, and is the
// only one that the compiled program contains. `build/media-tool/ffmpeg` is a complete ffmpeg with encoders and signal
// generators; tests, scripts/evaluate and scripts/bench make recordings with it.

/** A wheel with a complete ffmpeg, and the digest of the program in it. */
interface ToolWheel extends Wheel {
  readonly programSha256: string;
}

/** Wheels of PyPI's imageio-ffmpeg, which contain a static build, by Node's architecture name. */
const TOOL_WHEELS: Readonly<Record<string, ToolWheel>> = {
  x64: {
    platform: "manylinux_2_28_x86_64",
    requirement: "imageio-ffmpeg==0.8.1",
    file: "imageio_ffmpeg-0.8.1-py3-none-manylinux_2_28_x86_64.whl",
    sha256: "050d6850601c3b3890bd2b28306f3b842b3daea390a561101174375a1c460bda",
    programSha256: "0d709a0bed1a43f24cd2c420878c63afea4580671b6949ad19ed124572f3bc3d",
  },
  arm64: {
    platform: "manylinux_2_28_aarch64",
    requirement: "imageio-ffmpeg==0.8.1",
    file: "imageio_ffmpeg-0.8.1-py3-none-manylinux_2_28_aarch64.whl",
    sha256: "fad3176f859b25869e60a8ed79957d4e3ed74a97a95e5f0cdcb91455f6c6d00e",
    programSha256: "0b0b5ac30495b4e07ce1321b8d58200f901f57782884a8b6b264c7528c2c9e77",
  },
};

/**
 * Links ffmpeg into build/ffmpeg, and the complete ffmpeg that makes recordings into build/media-tool. Where the first
 * cannot be compiled, a checkout decodes with the second; scripts/build then refuses to include it.
 * @throws {Error} when there is no ffmpeg at all
 */
export async function setUpFfmpeg(context: SetupContext): Promise<void> {
  const own = await attempt(context, "ffmpeg cannot be compiled", () => buildFfmpeg(context));
  const tool =
    (await attempt(context, "ffmpeg for tests cannot be fetched", () => obtainTool(context))) ?? (await findSystem());
  const path = own ?? tool;
  if (path === null)
    throw new Error("ffmpeg is not available from any source; install it (on Debian: apt install ffmpeg)");
  await makeBuildFolder("ffmpeg");
  await linkIntoBuild("ffmpeg/ffmpeg", path);
  await makeBuildFolder("media-tool");
  if (tool !== null) await linkIntoBuild("media-tool/ffmpeg", tool);
  if (own === null) context.log(`ffmpeg: recordings are decoded with ${path}, which scripts/build cannot include`);
  if (tool === null) context.log("ffmpeg: tests that make recordings are skipped");
  context.log(`ffmpeg: ${await versionOf(path)}`);
}

/** Returns the program that `find` returns, if it runs on this machine; logs the reason otherwise. */
async function attempt({ log }: SetupContext, what: string, find: () => Promise<string>): Promise<string | null> {
  try {
    const path = await find();
    await versionOf(path);
    return path;
  } catch (error) {
    log(`ffmpeg: ${what}: ${messageOf(error)}`);
    return null;
  }
}

/** Returns whether a program with this digest is the ffmpeg that this checkout compiles for an architecture. */
export async function isOwnFfmpeg(sha256: string, architecture: string): Promise<boolean> {
  const path = await builtFfmpeg(defaultCacheRoot(), architecture);
  return path !== null && (await digestFile(path, "sha256")) === sha256;
}

/**
 * Returns the complete ffmpeg of this machine's wheel: from the cache, else from PyPI.
 * @throws {Error} when there is none for this machine, or PyPI provides a different file
 */
async function obtainTool({ cacheRoot, log }: SetupContext): Promise<string> {
  const wheel = TOOL_WHEELS[process.arch];
  if (wheel === undefined) throw new Error(`imageio-ffmpeg has no build for ${process.arch}`);
  const entry = join("ffmpeg", wheel.programSha256);
  const path = join(cacheRoot, entry, "ffmpeg");
  const found = await digestFile(path, "sha256").catch(() => null);
  if (found === wheel.programSha256) return path;
  if (found !== null) {
    log("ffmpeg: the damaged copy in the cache is removed");
    await removeCacheEntry(cacheRoot, entry);
  }
  log("ffmpeg: fetching a complete ffmpeg, with which tests make recordings");
  return await withTemporaryFolder(cacheRoot, async (temporary) => {
    const unpacked = join(temporary, "unpacked");
    // pip selects the wheel for this machine itself.
    const { platform: _, programSha256, ...native } = wheel;
    await unpackWheel(native, { downloads: temporary, unpacked });
    const folder = join(unpacked, "imageio_ffmpeg/binaries");
    const name = (await readdir(folder)).find((each) => each.startsWith("ffmpeg-linux-"));
    if (name === undefined) throw new Error("the wheel contains no ffmpeg");
    const program = join(folder, name);
    const sha256 = await digestFile(program, "sha256");
    if (sha256 !== programSha256) throw new Error(`the wheel's ffmpeg has the SHA-256 ${sha256}, which is not pinned`);
    await chmod(program, 0o755);
    await makeCacheEntry(cacheRoot, entry, (directory) => rename(program, join(directory, "ffmpeg")));
    return path;
  });
}

/** Returns the system's ffmpeg; null if it has none that runs. */
async function findSystem(): Promise<string | null> {
  const path = Bun.which("ffmpeg");
  if (path === null) return null;
  await versionOf(path);
  return await realpath(path);
}

/** Returns the version of an ffmpeg. @throws {CommandError} when it does not run */
async function versionOf(path: string): Promise<string> {
  const output = await runCommand([path, "-hide_banner", "-version"]);
  return output.match(/^ffmpeg version (\S+)/)?.[1] ?? "of unknown version";
}
