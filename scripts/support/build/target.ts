import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { nativeArchitectures, targetMachine } from "../../../native/build.ts";
import { buildConfine } from "../../../native/build-confine.ts";
import { cudaArchitectures, defaultCudaArchitecture } from "../../../native/build-cuda.ts";
import { buildNativeWithGpu } from "../../../native/build-vulkan.ts";
import { type ProgramFiles, programFiles } from "../../../src/program/index.ts";
import { root, type SetupContext } from "../checkout.ts";
import { fetchedFfmpeg } from "../ffmpeg.ts";
import { runCommand } from "../run-command.ts";
import { type FfmpegReport, readFfmpeg } from "./ffmpeg-notice.ts";

/** Those that there is a Bun of, by Node's names. */
const bunArchitectures = ["x64", "arm64"] as const;

/** A kind of machine that the program is built for. */
export interface Target {
  readonly name: `linux-${(typeof bunArchitectures)[number]}`;
  /** By Node's name. */
  readonly architecture: (typeof bunArchitectures)[number];
  /** CUDA's architectures that a backend is built for, beside the program; none: there is no such backend. */
  readonly cuda: readonly string[];
}

/**
 * The target that a command line asks for; this machine's by default.
 * @param architectures that can be compiled for here, this machine's first
 * @throws Error for another, with those that there are
 */
export function targetOf(args: readonly string[], architectures: readonly string[] = nativeArchitectures): Target {
  const targets = architectures
    .flatMap((name) => bunArchitectures.filter((architecture) => architecture === name))
    .map((architecture) => ({ name: `linux-${architecture}` as const, architecture }));
  const { values } = parseArgs({
    args: [...args],
    options: {
      target: { type: "string", default: targets[0]?.name },
      cuda: { type: "boolean", default: false },
      "cuda-architectures": { type: "string" },
    },
  });
  const target = targets.find(({ name }) => name === values.target);
  if (target === undefined) {
    const names = targets.map(({ name }) => name).join(" and ");
    throw new Error(`this machine builds for ${names}, not for ${values.target}: run scripts/build on one that does`);
  }
  const list = values["cuda-architectures"];
  if (!values.cuda && list !== undefined)
    throw new Error("--cuda-architectures says what --cuda builds for: give both");
  const cuda = values.cuda ? cudaArchitectures(list ?? defaultCudaArchitecture) : [];
  if (cuda.length > 0 && target.architecture !== targets[0]?.architecture) {
    throw new Error(
      `the CUDA backend for ${target.name} is built on such a machine: there is no cross compiler for it here`,
    );
  }
  return { ...target, cuda };
}

/** What the program is made of where it is built for another kind of machine than this one. */
export interface ForeignTarget {
  readonly files: ProgramFiles;
  readonly bun: string;
  readonly ffmpeg: FfmpegReport;
}

/**
 * Fetches and compiles the parts for another kind of machine, unless the cache has them.
 * @param architecture by Node's name
 * @throws Error that names what is missing on this machine
 */
export async function foreignTarget(context: SetupContext, architecture: string): Promise<ForeignTarget> {
  const files = await programFiles("");
  // Where the compiler is missing, it is said before anything is fetched.
  const nativeDirectory = await buildNativeWithGpu(context, architecture);
  const confine = await buildConfine(context, architecture);
  const ffmpeg = await fetchedFfmpeg(context, architecture);
  const onnxBinding = join(dirname(dirname(files.onnxBinding)), architecture, basename(files.onnxBinding));
  const fetchBun = join(root, "scripts/support/fetch-bun");
  const bun = await runCommand([fetchBun, `Linux-${targetMachine(architecture)}`, context.cacheRoot]);
  return {
    files: { ...files, nativeDirectory, onnxBinding, ffmpeg, confine },
    bun: bun.trim(),
    ffmpeg: await readFfmpeg(ffmpeg),
  };
}
