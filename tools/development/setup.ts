import { join, resolve } from "node:path";
import { removeOldTemporaryFolders } from "../../src/files/index.ts";
import { productCatalogue } from "../../src/models/index.ts";
import { isGpuWithinReach } from "../../src/speech/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { obtainModel } from "../models/obtain-model.ts";
import { linkIntoBuild, makeBuildFolder, root, type SetupContext } from "../shared/checkout.ts";
import { setUpFfmpeg } from "./ffmpeg.ts";
import { setUpSamples } from "./samples.ts";

// The part of scripts/setup that needs Bun: fills build/. Its arguments are the cache's path, and `here` to compile
// only the backends that the devices of this machine need.

const [cacheRoot, devices] = process.argv.slice(2);
if (!cacheRoot) throw new Error("usage: setup.ts CACHE [here]");

const context: SetupContext = { cacheRoot, log: (line) => console.log(line) };

const WITHOUT_REGISTRY =
  'if no package index can be reached: set your proxy (HTTPS_PROXY) or your own index (pip config set global.index-url URL), or see "Without a registry" in CONTRIBUTING.md';

try {
  await removeOldTemporaryFolders(cacheRoot, Date.now());
  await setUpFfmpeg(context);
  await setUpSamples(context);
  await setUpModels(context);
  // Imported here, because the packages that it builds from are only now known to be installed.
  const { buildConfine } = await import("../../native/build-confine.ts");
  await linkIntoBuild("ffmpeg/confine", await buildConfine(context));
  // scripts/build needs it, and may run without a network.
  const { buildLauncher } = await import("../../native/build-launcher.ts");
  await buildLauncher(context).catch((error: unknown) => context.log(`launcher: not built: ${messageOf(error)}`));
  const { buildNative } = await import("../../native/build.ts");
  const { buildNativeWithGpu, hasVulkan } = await import("../../native/build-vulkan.ts");
  const needsGpu = devices !== "here" || isGpuWithinReach() || (await hasVulkan(cacheRoot));
  const native = needsGpu ? await buildNativeWithGpu(context) : await buildNative(context);
  await linkIntoBuild("native", native);
  if (!needsGpu)
    context.log(
      "native: no GPU on this machine, so no GPU backend is compiled; scripts/setup without --here compiles it",
    );
  context.log("native: whisper.cpp addon");
} catch (error) {
  console.error(`setup: ${messageOf(error)}`);
  if (messageOf(error).includes("pip could not fetch")) console.error(`setup: ${WITHOUT_REGISTRY}`);
  process.exitCode = 1;
}

/** Links the built-in models into build/models: checks the models of the repository, and obtains the others. */
export async function setUpModels({ cacheRoot, log }: SetupContext): Promise<void> {
  const repositoryFolder = join(root, "models");
  const given = process.env.TRANSCRIBE_MODELS_DIR;
  const folders = [...(given ? [resolve(given)] : []), resolve(root, "../shared/models")];
  const options = { cacheRoot, repositoryFolder, folders, log: (line: string) => log(`models: ${line}`) };
  await makeBuildFolder("models");
  const here = productCatalogue().filter(({ builtIn }) => builtIn === true);
  for (const model of here) await linkIntoBuild(`models/${model.file}`, await obtainModel(model, options));
  log(`models: ${here.map(({ id }) => id).join(", ")}`);
}
