// The part of scripts/setup that needs Bun: everything below build/. Called with the cache's path.
import { sweepTemporaryFolders } from "../../src/models/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { linkIntoBuild, type SetupContext } from "./checkout.ts";
import { setUpFfmpeg } from "./ffmpeg.ts";
import { setUpModels } from "./models.ts";
import { setUpSamples } from "./samples.ts";

const [cacheRoot] = process.argv.slice(2);
if (!cacheRoot) throw new Error("usage: setup.ts CACHE");

const context: SetupContext = { cacheRoot, log: (line) => console.log(line) };

try {
  await sweepTemporaryFolders(cacheRoot, Date.now());
  await setUpFfmpeg(context);
  await setUpSamples(context);
  await setUpModels(context);
  // Imported only here: by now the packages that it builds from are known to be installed.
  const { buildConfine } = await import("../../native/build-confine.ts");
  await linkIntoBuild("ffmpeg/confine", await buildConfine(context));
  const { buildNativeWithGpu } = await import("../../native/build-vulkan.ts");
  const native = await buildNativeWithGpu({ cacheRoot, log: context.log });
  await linkIntoBuild("native", native);
  context.log("native: whisper.cpp addon");
} catch (error) {
  console.error(`setup: ${messageOf(error)}`);
  process.exitCode = 1;
}
