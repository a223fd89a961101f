import { chmod, copyFile, readdir, realpath, rename } from "node:fs/promises";
import { join } from "node:path";
import { UPSTREAM } from "../../native/upstream.ts";
import { makeCacheEntry, removeCacheEntry, withTemporaryFolder } from "../../src/files/index.ts";
import { digestFile } from "../../src/program/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { corpusDigest, makeCorpus } from "../corpus/make-corpus.ts";
import { linkIntoBuild, makeBuildFolder, root, type SetupContext } from "../shared/checkout.ts";
import { runCommand } from "../shared/run-command.ts";
import { unpackWheel, type Wheel } from "../shared/wheel.ts";

/**
 * Links the sample recordings into build/samples, the complete ffmpeg that makes others into build/media-tool, and the
 * corpus that it makes of the repository's recordings into build/recordings.
 */
export async function setUpRecordings(context: SetupContext): Promise<void> {
  const [toolDigest] = await Promise.all([setUpTool(context), setUpSamples(context)]);
  if (toolDigest === null) return;
  const entry = join("recordings", await corpusDigest(toolDigest));
  const cached = join(context.cacheRoot, entry);
  if (!(await Bun.file(join(cached, "manifest.json")).exists())) {
    context.log("recordings: making dialogues and formats of those in test/recordings");
    await makeCacheEntry(context.cacheRoot, entry, makeCorpus);
  }
  await linkIntoBuild("recordings", cached);
}

/** A wheel with a complete ffmpeg, and the digest of the program in it. */
interface ToolWheel extends Wheel {
  readonly programSha256: string;
}

/** Wheels of PyPI's imageio-ffmpeg, which contain a static build, by Node's architecture name. */
const TOOL_WHEELS: Readonly<Record<string, ToolWheel>> = {
  x64: toolWheel("manylinux_2_28_x86_64", {
    sha256: "050d6850601c3b3890bd2b28306f3b842b3daea390a561101174375a1c460bda",
    programSha256: "0d709a0bed1a43f24cd2c420878c63afea4580671b6949ad19ed124572f3bc3d",
  }),
  arm64: toolWheel("manylinux_2_28_aarch64", {
    sha256: "fad3176f859b25869e60a8ed79957d4e3ed74a97a95e5f0cdcb91455f6c6d00e",
    programSha256: "0b0b5ac30495b4e07ce1321b8d58200f901f57782884a8b6b264c7528c2c9e77",
  }),
};

function toolWheel(platform: string, digests: Pick<ToolWheel, "sha256" | "programSha256">): ToolWheel {
  const file = `imageio_ffmpeg-0.8.1-py3-none-${platform}.whl`;
  return { requirement: "imageio-ffmpeg==0.8.1", file, ...digests };
}

/**
 * Links the complete ffmpeg with which tests, scripts/evaluate and scripts/bench make recordings.
 * @returns its SHA-256; null without one
 */
async function setUpTool(context: SetupContext): Promise<string | null> {
  await makeBuildFolder("media-tool");
  try {
    const wheel = TOOL_WHEELS[process.arch];
    if (wheel === undefined) throw new Error(`imageio-ffmpeg has no build for ${process.arch}`);
    await linkIntoBuild("media-tool/ffmpeg", await obtainTool(wheel, context));
    return wheel.programSha256;
  } catch (error) {
    context.log(`ffmpeg: the one for tests cannot be fetched: ${messageOf(error)}`);
    const system = await findSystem();
    if (system === null) {
      context.log("ffmpeg: tests that make recordings are skipped");
      return null;
    }
    await linkIntoBuild("media-tool/ffmpeg", system);
    return await digestFile(system, "sha256");
  }
}

/**
 * Returns the complete ffmpeg of a wheel: from the cache, else from PyPI.
 * @throws {Error} when PyPI provides a different file
 */
async function obtainTool(wheel: ToolWheel, { cacheRoot, log }: SetupContext): Promise<string> {
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
    // Without a platform, pip selects the wheel for this machine itself.
    await unpackWheel(wheel, { downloads: temporary, unpacked });
    const folder = join(unpacked, "imageio_ffmpeg/binaries");
    const name = (await readdir(folder)).find((each) => each.startsWith("ffmpeg-linux-"));
    if (name === undefined) throw new Error("the wheel contains no ffmpeg");
    const program = join(folder, name);
    const sha256 = await digestFile(program, "sha256");
    if (sha256 !== wheel.programSha256)
      throw new Error(`the wheel's ffmpeg has the SHA-256 ${sha256}, which is not pinned`);
    await chmod(program, 0o755);
    await makeCacheEntry(cacheRoot, entry, (directory) => rename(program, join(directory, "ffmpeg")));
    await runCommand([path, "-hide_banner", "-version"]);
    return path;
  });
}

/** Returns the system's ffmpeg; null if it has none that runs. */
async function findSystem(): Promise<string | null> {
  const path = Bun.which("ffmpeg");
  if (path === null) return null;
  await runCommand([path, "-hide_banner", "-version"]);
  return await realpath(path);
}

/** MIT; contains a real telephone conversation of two women with its turns and its transcript. */
const PYANNOTE: Wheel = {
  requirement: "pyannote-audio==4.0.7",
  file: "pyannote_audio-4.0.7-py3-none-any.whl",
  sha256: "852ea15c4d85bc34773e618267603ffca6a521669a74d33742692cc67fc700d6",
};

const JFK = join(root, "node_modules", UPSTREAM.package, UPSTREAM.tree, "samples", "jfk.mp3");

const DIGESTS = {
  "jfk.mp3": "20d3323a2bcce6f25498b8911a397503a0a99fa92b6ba58d62788cb42b6e5459",
  "sample.wav": "c319b4abca767b124e41432d364fd7df006cb26bb79d09326c487d606a134e6e",
  "sample.rttm": "d78fe62c69d8e6dcbb42c26adfce83faccb374c5a1e6d987fe37f85f1c173c87",
  "sample.stm": "f861f3004927e1c4429199f9695bfd252def75d7d5e4bdf735d3d85fd4a667f7",
};

/** The cache entry, named by its content. */
const ENTRY = join("samples", new Bun.CryptoHasher("sha256").update(Object.values(DIGESTS).join()).digest("hex"));

/** Links the sample recordings from packages into build/samples. */
async function setUpSamples({ cacheRoot, log }: SetupContext): Promise<void> {
  const cached = join(cacheRoot, ENTRY);
  const isCached = await Bun.file(join(cached, "jfk.mp3")).exists();
  const damaged = isCached ? await findDamaged(cached) : undefined;
  if (damaged !== undefined) {
    log(`samples: ${damaged} in the cache is damaged; fetching the samples again`);
    await removeCacheEntry(cacheRoot, ENTRY);
  }
  if (!isCached || damaged !== undefined) {
    log(`samples: from ${PYANNOTE.requirement} and ${UPSTREAM.package}`);
    await makeCacheEntry(cacheRoot, ENTRY, (folder) => fetchSamples(cacheRoot, folder));
  }
  await linkIntoBuild("samples", cached);
  log(`samples: ${Object.keys(DIGESTS).join(", ")}`);
}

async function fetchSamples(cacheRoot: string, folder: string): Promise<void> {
  await copyFile(JFK, join(folder, "jfk.mp3"));
  await withTemporaryFolder(cacheRoot, async (temporary) => {
    const unpacked = join(temporary, "unpacked");
    await unpackWheel(PYANNOTE, { downloads: temporary, unpacked });
    for (const name of ["sample.wav", "sample.rttm", "sample.stm"]) {
      await copyFile(join(unpacked, "pyannote/audio/sample", name), join(folder, name));
    }
  });
  const damaged = await findDamaged(folder);
  if (damaged) throw new Error(`the sample ${damaged} has an unexpected SHA-256`);
}

async function findDamaged(folder: string): Promise<string | undefined> {
  for (const [name, sha256] of Object.entries(DIGESTS)) {
    const found = await digestFile(join(folder, name), "sha256").catch(() => undefined);
    if (found !== sha256) return name;
  }
  return undefined;
}
