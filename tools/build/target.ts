import { basename, dirname, join } from "node:path";
import { nativeArchitectures, targetMachine } from "../../native/build.ts";
import { buildConfine } from "../../native/build-confine.ts";
import { cudaArchitectures, defaultCudaArchitecture } from "../../native/build-cuda.ts";
import { buildFfmpeg } from "../../native/build-ffmpeg.ts";
import { buildLauncher } from "../../native/build-launcher.ts";
import { buildNativeWithGpu } from "../../native/build-vulkan.ts";
import { programFiles } from "../../src/program/index.ts";
import { root, type SetupContext } from "../shared/checkout.ts";
import { flag, readArguments, text } from "../shared/options.ts";
import { runCommand } from "../shared/run-command.ts";
import { readFfmpeg } from "./ffmpeg-notice.ts";

/** Architectures with a Bun, by Node's names. */
const bunArchitectures = ["x64", "arm64"] as const;

/** A platform for which the program is built. */
export interface Target {
  readonly name: `linux-${(typeof bunArchitectures)[number]}`;
  /** By Node's name. */
  readonly architecture: (typeof bunArchitectures)[number];
  /** CUDA architectures of a separate backend; empty for no backend. */
  readonly cuda: readonly string[];
}

export const targetOptions = {
  target: text("NAME", "platform: linux-x64 or linux-arm64"),
  cuda: flag("also build ggml's CUDA backend"),
  cudaArchitectures: text("LIST", "with --cuda: the architectures of its GPUs"),
};

/**
 * Returns the target of a command line; by default this machine's.
 * @param architectures architectures that can be compiled here, this machine's first
 * @throws {Error} for any other target, with the possible ones
 */
export function targetOf(args: readonly string[], architectures: readonly string[] = nativeArchitectures): Target {
  const targets = architectures
    .flatMap((name) => bunArchitectures.filter((architecture) => architecture === name))
    .map((architecture) => ({ name: `linux-${architecture}` as const, architecture }));
  const { values } = readArguments(args, targetOptions, false);
  const wanted = values.target ?? targets[0]?.name;
  const target = targets.find(({ name }) => name === wanted);
  if (target === undefined) {
    const names = targets.map(({ name }) => name).join(" and ");
    throw new Error(`this machine builds for ${names}, not for ${wanted}: run scripts/build on another machine`);
  }
  const list = values.cudaArchitectures;
  if (!values.cuda && list !== null) throw new Error("--cuda-architectures has no effect without --cuda: give both");
  const cuda = values.cuda ? cudaArchitectures(list ?? defaultCudaArchitecture) : [];
  if (cuda.length > 0 && target.architecture !== targets[0]?.architecture) {
    throw new Error(
      `the CUDA backend for ${target.name} must be built on such a machine: there is no cross compiler for it`,
    );
  }
  return { ...target, cuda };
}

/**
 * Fetches and compiles the parts for another platform, unless the cache has them.
 * @throws {Error} with the tools that are missing on this machine
 */
export async function foreignTarget(context: SetupContext, architecture: string) {
  const files = await programFiles("");
  // Fails before anything is fetched when the compiler is missing.
  const nativeDirectory = await buildNativeWithGpu(context, architecture);
  const confine = await buildConfine(context, architecture);
  const ffmpeg = await buildFfmpeg(context, architecture);
  const launcher = await buildLauncher(context, architecture);
  const onnxBinding = join(dirname(dirname(files.onnxBinding)), architecture, basename(files.onnxBinding));
  const fetchBun = join(root, "tools/shared/fetch-bun");
  const bun = await runCommand([fetchBun, `Linux-${targetMachine(architecture)}`, context.cacheRoot]);
  return {
    name: `linux-${architecture}`,
    files: { ...files, nativeDirectory, onnxBinding, ffmpeg, confine },
    bun: bun.trim(),
    launcher,
    ffmpeg: await readFfmpeg(ffmpeg),
  };
}

export type ForeignTarget = Awaited<ReturnType<typeof foreignTarget>>;
