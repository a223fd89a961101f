// The part of scripts/setup that needs Bun: fills build/. Its arguments are the cache's path, and `all` to build also
// what only scripts/build and some tests need. Each step is a process of its own: `setup.ts CACHE here STEP`. This file
// imports no package, because the first step installs them.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../native/steps/tools.ts";
import { linkIntoBuild, makeBuildFolder, root, type SetupContext } from "../shared/checkout.ts";

/** A step of the setup. Steps run at the same time, as soon as the steps that they need have succeeded. */
interface Step {
  readonly needs: readonly StepName[];
  /** Whether the step runs for `scripts/setup --all` only. */
  readonly isExtra?: true;
  readonly run: (context: SetupContext, isForHere: boolean) => Promise<void>;
}

type StepName = "packages" | "ffmpeg" | "recordings" | "models" | "native" | "launcher";

/** The modules with packages are imported in the step's process, which starts after the packages are installed. */
const STEPS: Readonly<Record<StepName, Step>> = {
  packages: { needs: [], run: installPackages },
  ffmpeg: { needs: [], run: async (context) => (await import("./ffmpeg.ts")).compileFfmpeg(context) },
  recordings: {
    needs: ["packages"],
    run: async (context) => (await import("./recordings.ts")).setUpRecordings(context),
  },
  models: {
    needs: ["packages"],
    run: async (context) => (await import("../models/obtain-model.ts")).setUpModels(context),
  },
  native: { needs: ["packages"], run: setUpNative },
  // scripts/build needs it, and may run without a network.
  launcher: {
    needs: [],
    isExtra: true,
    run: async (context) => {
      const { buildLauncher } = await import("../../native/build-launcher.ts");
      await buildLauncher(context).catch((error: unknown) => context.log(`launcher: not built: ${messageOf(error)}`));
    },
  },
};

const WITHOUT_REGISTRY =
  'if no package index can be reached: set your proxy (HTTPS_PROXY) or your own index (pip config set global.index-url URL), or see "Without a registry" in CONTRIBUTING.md';

const [cacheRoot, extent, only] = process.argv.slice(2);
if (!cacheRoot || (extent !== "here" && extent !== "all")) throw new Error("usage: setup.ts CACHE here|all [STEP]");
const context: SetupContext = { cacheRoot, log: (line) => console.log(line) };

if (only === undefined) {
  process.exitCode = (await runSteps(extent)) ? 0 : 1;
} else {
  const step = Object.entries(STEPS).find(([name]) => name === only)?.[1];
  try {
    if (step === undefined) throw new Error(`there is no step ${only}`);
    await step.run(context, extent === "here");
  } catch (error) {
    console.error(`setup: ${messageOf(error)}`);
    if (messageOf(error).includes("pip could not fetch")) console.error(`setup: ${WITHOUT_REGISTRY}`);
    process.exitCode = 1;
  }
}

/** Runs the steps in processes and prints what each took. @returns whether all succeeded */
async function runSteps(extent: "here" | "all"): Promise<boolean> {
  const started = performance.now();
  const results = new Map<StepName, Promise<boolean>>();
  const times: string[] = [];
  const run = async (name: StepName, { needs }: Step): Promise<boolean> => {
    const needed = await Promise.all(needs.map((other) => results.get(other)));
    if (needed.includes(false)) return false;
    const since = performance.now();
    const command = [process.execPath, "--no-env-file", import.meta.path, context.cacheRoot, extent, name];
    const child = Bun.spawn(command, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    const exitCode = await child.exited;
    times.push(`${name} ${seconds(performance.now() - since)}`);
    return exitCode === 0;
  };
  // In the order of the table, so that a step's needs are started before it.
  for (const [name, step] of Object.entries(STEPS) as [StepName, Step][]) {
    if (step.isExtra !== true || extent === "all") results.set(name, run(name, step));
  }
  const isComplete = !(await Promise.all(results.values())).includes(false) && (await chooseFfmpeg());
  times.push(`in all ${seconds(performance.now() - started)}`);
  console.log(`setup: ${times.join(", ")}`);
  return isComplete;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Installs the packages of bun.lock with the user's configuration, unless they are installed. */
async function installPackages({ log }: SetupContext): Promise<void> {
  const stamp = join(root, "node_modules/.transcribe-setup");
  const hash = new Bun.CryptoHasher("sha256").update(Bun.version);
  for (const name of ["package.json", "bun.lock", "bunfig.toml"]) hash.update(await readFile(join(root, name)));
  const wanted = hash.digest("hex");
  if ((await readFile(stamp, "utf8").catch(() => "")) !== wanted) {
    log("packages: installing");
    // Without a network, Bun's own five attempts at each package take many minutes.
    const { BUN_CONFIG_HTTP_RETRY_COUNT = "2" } = process.env;
    const child = Bun.spawn([process.execPath, "install", "--frozen-lockfile", "--no-progress"], {
      cwd: root,
      env: { ...process.env, BUN_CONFIG_HTTP_RETRY_COUNT },
      stdio: ["ignore", "pipe", "pipe"],
    });
    // The output mentions install scripts that did not run. None is needed, so it is shown only after an error.
    const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if ((await child.exited) !== 0) {
      const end = `${output}\n${errors}`.trim().split("\n").slice(-5).join("\n");
      throw new Error(`bun could not install the packages:
${end}
If no registry can be reached: set your proxy (HTTPS_PROXY) or your own registry (npm config set registry URL), or see
"Without a registry" in ${join(root, "CONTRIBUTING.md")}`);
    }
    await writeFile(stamp, wanted);
  }
  log("packages: installed");
}

/** Builds the addon, and links it into build/native. */
async function setUpNative(context: SetupContext, isForHere: boolean): Promise<void> {
  const { buildNativeHere, buildNativeWithGpu } = await import("../../native/build-vulkan.ts");
  const { isGpuWithinReach } = await import("../../src/devices/index.ts");
  const native = isForHere ? await buildNativeHere(context, isGpuWithinReach()) : await buildNativeWithGpu(context);
  await linkIntoBuild("native", native);
  const whole = "scripts/setup --all builds all CPU variants and the GPU backend";
  context.log(`native: whisper.cpp addon${isForHere ? `; ${whole}` : ""}`);
}

/**
 * Lets the complete ffmpeg decode recordings where the own one cannot be compiled; scripts/build then refuses to include
 * it. @returns whether there is an ffmpeg
 */
async function chooseFfmpeg(): Promise<boolean> {
  const own = join(root, "build/ffmpeg/ffmpeg");
  if (existsSync(own)) return true;
  const tool = join(root, "build/media-tool/ffmpeg");
  if (!existsSync(tool)) {
    console.error("setup: ffmpeg is not available from any source; install it (on Debian: apt install ffmpeg)");
    return false;
  }
  await makeBuildFolder("ffmpeg");
  await linkIntoBuild("ffmpeg/ffmpeg", tool);
  console.log(`ffmpeg: recordings are decoded with ${tool}, which scripts/build cannot include`);
  return true;
}
