// The part of scripts/setup that needs Bun: everything below build/. Called with the cache's path, and `here`
// to compile only what the devices of this machine need.
import { removeOldTemporaryFolders } from "../../src/models/cache-entry.ts";
import { isGpuWithinReach } from "../../src/speech/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { linkIntoBuild, type SetupContext } from "./checkout.ts";
import { setUpFfmpeg } from "./ffmpeg.ts";
import { setUpModels } from "./models/index.ts";
import { setUpSamples } from "./samples.ts";

const [cacheRoot, devices] = process.argv.slice(2);
if (!cacheRoot) throw new Error("usage: setup.ts CACHE [here]");

const context: SetupContext = { cacheRoot, log: (line) => console.log(line) };

try {
  await removeOldTemporaryFolders(cacheRoot, Date.now());
  await setUpFfmpeg(context);
  await setUpSamples(context);
  await setUpModels(context);
  // Imported only here: by now the packages that it builds from are known to be installed.
  const { buildConfine } = await import("../../native/build-confine.ts");
  await linkIntoBuild("ffmpeg/confine", await buildConfine(context));
  const { buildNative } = await import("../../native/build.ts");
  const { buildNativeWithGpu, hasVulkan } = await import("../../native/build-vulkan.ts");
  const needsGpu = devices !== "here" || isGpuWithinReach() || (await hasVulkan(cacheRoot));
  const native = needsGpu ? await buildNativeWithGpu(context) : await buildNative(context);
  await linkIntoBuild("native", native);
  if (!needsGpu) context.log("native: no GPU here, so its backend is not compiled; scripts/setup compiles it");
  context.log("native: whisper.cpp addon");
} catch (error) {
  console.error(`setup: ${messageOf(error)}`);
  process.exitCode = 1;
}
