import { copyFile, mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ffmpegSources } from "../../native/build-ffmpeg.ts";
import { debianSource } from "../../native/steps/debian-sources.ts";
import { withTemporaryFolder } from "../../src/files/index.ts";
import { root, type SetupContext } from "../shared/checkout.ts";
import { packTree } from "../shared/pack-tree.ts";

/** The scripts that compile ffmpeg, and its lists of parts. */
const RECIPE = [
  "native/build-ffmpeg.ts",
  "native/build.ts",
  "native/ffmpeg/*",
  "native/steps/*",
  "native/upstream.ts",
  "LICENSE",
];

/**
 * Writes the complete source of ffmpeg as a tar archive: the archives that it is compiled from, and the scripts. The
 * LGPL asks for both. The same checkout always gives the same bytes.
 */
export async function writeFfmpegSource(target: string, { cacheRoot, log }: SetupContext): Promise<void> {
  await withTemporaryFolder(cacheRoot, async (folder) => {
    const tree = join(folder, "tree");
    for (const source of Object.values(ffmpegSources)) {
      await copyInto(tree, await debianSource(source, cacheRoot, log), basename(source.path));
    }
    for (const pattern of RECIPE) {
      for await (const path of new Bun.Glob(pattern).scan({ cwd: root })) {
        await copyInto(tree, join(root, path), path);
      }
    }
    await Bun.write(join(tree, "README"), README);
    await packTree(target, tree);
  });
}

async function copyInto(tree: string, source: string, path: string): Promise<void> {
  await mkdir(dirname(join(tree, path)), { recursive: true });
  await copyFile(source, join(tree, path));
}

const README = `This is the source of the ffmpeg in the program next to this file, with the libraries in it.

The .tar files are unchanged; native/build-ffmpeg.ts has their digests, the commands that compile them and all
options, which "ffmpeg -version" prints as well. Before it compiles them, it makes the changes that
native/ffmpeg/formats.ts lists as CORRECTIONS. In a checkout of this product, scripts/setup runs it.
`;
