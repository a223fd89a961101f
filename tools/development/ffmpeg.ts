import { rm } from "node:fs/promises";
import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { buildConfine } from "../../native/build-confine.ts";
import { buildFfmpeg, builtFfmpeg } from "../../native/build-ffmpeg.ts";
import { digestOf, messageOf, runTool } from "../../native/steps/tools.ts";
import { linkIntoBuild, makeBuildFolder, root, type SetupContext } from "../shared/checkout.ts";

// A checkout has two programs. `build/ffmpeg/ffmpeg` decodes recordings; it is compiled from pinned sources, and is the
// only one that the compiled program contains. `build/media-tool/ffmpeg` is a complete ffmpeg (recordings.ts). This
// file imports no package, so that ffmpeg is compiled while packages are fetched.

/**
 * Links ffmpeg and the program that confines it into build/ffmpeg. Where ffmpeg cannot be compiled, it logs the reason,
 * and leaves the choice of another one to the caller.
 */
export async function compileFfmpeg(context: SetupContext): Promise<void> {
  await makeBuildFolder("ffmpeg");
  await linkIntoBuild("ffmpeg/confine", await buildConfine(context));
  try {
    const path = await buildFfmpeg(context);
    const version = await runTool([path, "-hide_banner", "-version"], () => {});
    await linkIntoBuild("ffmpeg/ffmpeg", path);
    context.log(`ffmpeg: ${version.match(/^ffmpeg version (\S+)/)?.[1] ?? "of unknown version"}`);
  } catch (error) {
    await rm(join(root, "build/ffmpeg/ffmpeg"), { force: true });
    context.log(`ffmpeg: cannot be compiled: ${messageOf(error)}`);
  }
}

/** Returns whether a program with this digest is the ffmpeg that this checkout compiles for an architecture. */
export async function isOwnFfmpeg(sha256: string, architecture: string): Promise<boolean> {
  const path = await builtFfmpeg(defaultCacheRoot(), architecture);
  return path !== null && (await digestOf(path)) === sha256;
}
