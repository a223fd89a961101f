import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { type BuildNativeOptions, nativeDirectory, repository, targetOf } from "./build.ts";
import { CORRECTIONS, DECODERS, DEMUXERS, GUESSED_DEMUXERS } from "./ffmpeg/formats.ts";
import { crossArguments } from "./steps/cmake.ts";
import { type DebianSource, debianSource, unpackSource } from "./steps/debian-sources.ts";
import { exists, inCache } from "./steps/in-cache.ts";
import { backendKey } from "./steps/key.ts";
import type { CrossTarget } from "./steps/target.ts";
import { findTools, type NativeTools, runTool } from "./steps/tools.ts";

/** The sources of ffmpeg and of the libraries in it, from Debian 13. Debian changes none of them for this build; see also CORRECTIONS. */
export const ffmpegSources = {
  ffmpeg: {
    name: "FFmpeg",
    version: "7.1.5",
    path: "f/ffmpeg/ffmpeg_7.1.5.orig.tar.xz",
    sha256: "de668509caf9e35e3cd162473441fdb29538c6d96ed080292b3cf9e6fc5d558f",
  },
  opus: {
    name: "Opus",
    version: "1.5.2",
    path: "o/opus/opus_1.5.2.orig.tar.gz",
    sha256: "65c1d2f78b9f2fb20082c38cbe47c951ad5839345876e46941612ee87f9a7ce1",
  },
  zlib: {
    name: "zlib",
    version: "1.3.1",
    path: "z/zlib/zlib_1.3.dfsg+really1.3.1.orig.tar.gz",
    sha256: "60dd315c07f616887caa029408308a018ace66e3d142726a97db164b3b8f69fb",
  },
} as const satisfies Record<string, DebianSource>;

/** Debian 12's package of the assembler of ffmpeg's code for x86-64. */
const assembler = {
  name: "the assembler nasm",
  version: "2.16.01",
  path: "n/nasm/nasm_2.16.01-1_amd64.deb",
  sha256: "0180693ad5d2da8b36e7d73b9b596dc3e9f900238e3de699976c0576875b878f",
} as const satisfies DebianSource;

/**
 * Optimization of ffmpeg, which compiles in half the time of -O3 and gives the same samples. Decoding takes 0 to 10 %
 * longer, because code in assembly does most of the work. Opus keeps -O3: with -O1 its encoder takes 1.65 times as long.
 */
const OPTIMIZATION = "-O1";

/** Hardening of code that reads hostile input: see native/hardening.cmake. The program is static: it loads no library. */
const COMPILER_OPTIONS = ["-fPIE", "-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3"];
/**
 * Directory of the libraries, relative to the source: the program contains this option. A cross compiler ignores the
 * variable LIBRARY_PATH.
 */
const LIBRARIES = "../libraries";
const LINKER_OPTIONS = ["-static-pie", "-Wl,-z,now", "-Wl,-z,relro", "-Wl,-z,noexecstack"];

const list = (kind: string, names: readonly string[]) => `--enable-${kind}=${names.join(",")}`;

/** The parts of ffmpeg: what src/media uses, and nothing else. Without version 3 and GPL parts it is LGPL 2.1 or later. */
const PARTS = [
  ...["--disable-everything", "--disable-autodetect", "--disable-doc", "--disable-debug", "--disable-network"],
  ...["--disable-avdevice", "--disable-swscale", "--disable-postproc", "--disable-programs", "--enable-ffmpeg"],
  ...["--enable-zlib", "--enable-libopus"],
  ...[list("demuxer", [...Object.keys(DEMUXERS), ...GUESSED_DEMUXERS]), list("decoder", Object.keys(DECODERS))],
  // Parsers split the packets of containers that store only a stream of bytes.
  list("parser", [
    ...["aac", "aac_latm", "ac3", "amr", "cook", "dca", "dolby_e", "flac", "ftr", "g723_1", "g729", "gsm", "mlp"],
    ...["mpegaudio", "opus", "sipr", "tak", "vorbis"],
  ]),
  ...[list("protocol", ["file", "pipe"]), list("muxer", ["framecrc", "pcm_s16le", "webm"])],
  ...[
    list("encoder", ["pcm_s16le", "libopus"]),
    list("filter", ["aformat", "anull", "aresample", "asetpts", "atrim", "pan"]),
  ],
];

/** Returns the tools of a build, and its directory in the cache. */
async function ffmpegBuild(cacheRoot: string, architecture: string) {
  const target = targetOf(architecture);
  const tools = await findTools(target);
  const key = await backendKey({
    ...{ nativeDirectory, repository, tools, architecture, folder: "ffmpeg" as const, files: [] },
    more: [ffmpegSources, assembler, COMPILER_OPTIONS, LINKER_OPTIONS, LIBRARIES, PARTS, CORRECTIONS, OPTIMIZATION],
  });
  return { target, tools, directory: join(cacheRoot, "native-ffmpeg", key) };
}

/** Returns the path of the ffmpeg in the cache; null when it was not built. */
export async function builtFfmpeg(cacheRoot: string, architecture: string): Promise<string | null> {
  const path = join((await ffmpegBuild(cacheRoot, architecture)).directory, "ffmpeg");
  return (await exists(path)) ? path : null;
}

/**
 * Builds ffmpeg from pinned sources, unless the cache has it.
 *
 * @returns the path of the program
 * @throws {Error} with the missing tool, the source that cannot be fetched or the step that failed
 */
export async function buildFfmpeg(
  { cacheRoot, log }: BuildNativeOptions,
  architecture: string = process.arch,
): Promise<string> {
  const { target, tools, directory } = await ffmpegBuild(cacheRoot, architecture);
  await inCache(directory, log, (work) => compile(work, tools, target.cross, { cacheRoot, log }));
  return join(directory, "ffmpeg");
}

async function compile(
  work: string,
  tools: NativeTools,
  cross: CrossTarget | undefined,
  { cacheRoot, log }: BuildNativeOptions,
): Promise<string> {
  if (Bun.which("make") === null) throw new Error("cannot build ffmpeg without make (Debian: apt install make)");
  const unpacked = async (source: DebianSource) => await unpackSource(await debianSource(source, cacheRoot, log), work);
  const [source, opus, zlib] = await Promise.all([
    unpacked(ffmpegSources.ffmpeg),
    unpacked(ffmpegSources.opus),
    unpacked(ffmpegSources.zlib),
  ]);
  await correct(source);
  const assembles = cross === undefined && process.arch === "x64";
  if (assembles) {
    const archive = await debianSource(assembler, cacheRoot, log);
    await runTool(["dpkg-deb", "--extract", archive, join(work, "assembler")], () => {});
  }
  log("native: compiling ffmpeg, which takes about a minute");
  const libraries = join(source, LIBRARIES);
  await buildOpus(opus, libraries, tools, cross);
  await buildZlib(zlib, libraries, cross);

  const path = [join(nativeDirectory, "ffmpeg"), join(work, "assembler/usr/bin"), process.env.PATH].join(":");
  // By variables and not by arguments, which ffmpeg contains: it must not contain a path of this machine.
  const environment = [
    ...["env", `PATH=${path}`, "LC_ALL=C", `OPUS_DIRECTORY=${libraries}`],
    `CPATH=${join(libraries, "include")}`,
  ];
  const compilers =
    cross === undefined
      ? ["--cc=cc"]
      : [
          ...["--enable-cross-compile", "--target-os=linux", `--arch=${cross.processor}`, `--cc=${cross.cCompiler}`],
          // With it, `strip` is the target's.
          `--cross-prefix=${cross.cCompiler.replace(/gcc$/, "")}`,
        ];
  const configure = [
    ...["./configure", "--prefix=/usr", ...compilers, ...(assembles ? [] : ["--disable-x86asm"]), ...PARTS],
    "--pkg-config=pkg-config",
    ...[
      `--extra-cflags=${COMPILER_OPTIONS.join(" ")}`,
      `--extra-ldflags=-L${LIBRARIES}/lib`,
      `--extra-ldexeflags=${LINKER_OPTIONS.join(" ")}`,
      ...["--enable-pic", `--optflags=${OPTIMIZATION}`],
    ],
  ];
  await runTool([...environment, ...configure], () => {}, source);
  await runTool([...environment, "make", `--jobs=${availableParallelism()}`, "ffmpeg"], () => {}, source);
  const output = join(work, "output");
  await mkdir(output);
  await copyFile(join(source, "ffmpeg"), join(output, "ffmpeg"));
  return output;
}

/** Applies the corrections to ffmpeg's sources. @throws {Error} when one does not fit */
async function correct(source: string): Promise<void> {
  for (const { file, before, after } of CORRECTIONS) {
    const path = join(source, file);
    const parts = (await readFile(path, "utf8")).split(before);
    if (parts.length !== 2) throw new Error(`a correction does not fit ${file}; update native/ffmpeg/formats.ts`);
    await writeFile(path, parts.join(after));
  }
}

/** Builds the static library Opus and installs it into a directory. */
async function buildOpus(
  source: string,
  into: string,
  tools: NativeTools,
  cross: CrossTarget | undefined,
): Promise<void> {
  const out = `${source}-build`;
  await runTool(
    [
      ...[tools.cmake, "-S", source, "-B", out, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF"],
      ...(cross === undefined ? [] : crossArguments(cross)),
      ...[`-DCMAKE_C_FLAGS=${flagsOf(source)}`, `-DCMAKE_INSTALL_PREFIX=${into}`, "-DCMAKE_INSTALL_LIBDIR=lib"],
    ],
    () => {},
  );
  await runTool([tools.cmake, "--build", out, "--parallel", String(availableParallelism())], () => {});
  await runTool([tools.cmake, "--install", out], () => {});
}

/** Builds the static library zlib and installs it into a directory. Debian's archive lacks what its CMake file needs. */
async function buildZlib(source: string, into: string, cross: CrossTarget | undefined): Promise<void> {
  const compiler = cross?.cCompiler ?? "cc";
  const environment = ["env", `CC=${compiler}`, `CFLAGS=-O3 ${flagsOf(source)}`];
  await runTool([...environment, "./configure", "--static", `--prefix=${into}`], () => {}, source);
  await runTool(["make", `--jobs=${availableParallelism()}`, "install"], () => {}, source);
}

/** Returns the compiler options of a library, whose code then contains no path of this machine. */
function flagsOf(source: string): string {
  return [...COMPILER_OPTIONS, `-ffile-prefix-map=${source}=${basename(source)}`].join(" ");
}
