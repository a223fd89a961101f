import { basename, dirname, join } from "node:path";
import { targetMachine } from "../../../native/build.ts";
import { buildConfine } from "../../../native/build-confine.ts";
import { buildNativeWithGpu } from "../../../native/build-vulkan.ts";
import { type ProgramFiles, programFiles } from "../../../src/program/index.ts";
import { root, type SetupContext } from "../checkout.ts";
import { fetchedFfmpeg } from "../ffmpeg.ts";
import { runCommand } from "../run-command.ts";
import { type FfmpegReport, readFfmpeg } from "./ffmpeg-report.ts";

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
