import { copyFileSync, readdirSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { buildNativeWhisperCli, defaultCacheRoot } from "../../native/build.ts";
import { FASTEST_CPU_VARIANT } from "../shared/cpu-variant.ts";
import { beforeStop, PeakWatch } from "../shared/processes.ts";
import { runCommand } from "../shared/run-command.ts";
import type { Competitor, Figures, RunSettings } from "./competitor.ts";

export const whisperBase = join(root, "build/models/ggml-base.bin");
const VARIANTS = [
  { name: "greedy", beam: 1 },
  { name: "beam 5", beam: 5 },
];

/**
 * Limits whisper-cli to one CPU variant: it loads the best one from the directory in which it lies. @returns the path of a
 * copy, which is removed with this process
 */
function limitedTo(cpu: string, program: string): string {
  const directory = temporaryDirectory();
  process.once("exit", () => directory[Symbol.dispose]());
  const libraries = readdirSync(dirname(program)).filter((name) => name.endsWith(".so"));
  for (const name of libraries.filter((name) => !/^libggml-cpu-/.test(name) || name === `libggml-cpu-${cpu}.so`)) {
    symlinkSync(join(dirname(program), name), join(directory.path, name));
  }
  const copy = join(directory.path, basename(program));
  copyFileSync(program, copy);
  return copy;
}

/** Prepares whisper.cpp's own program, built from the same sources as our addon, with the same model. */
export async function whisperCpp({ threads, language, cpu }: RunSettings): Promise<Competitor[]> {
  const built = await buildNativeWhisperCli({ cacheRoot: defaultCacheRoot(), log: (line) => console.error(line) });
  const program = cpu === FASTEST_CPU_VARIANT ? built : limitedTo(cpu, built);
  const version = /version: (\S+)/.exec(await runCommand([program, "--version"]))?.[1] ?? "";
  return VARIANTS.map(({ name, beam }) => ({
    name: `whisper-cli ${version}, ${name}`,
    async run(files) {
      using folder = temporaryDirectory();
      const outputs = files.map((_, index) => join(folder.path, String(index)));
      const { errors, cpuSeconds, peakBytes } = await runMeasured([
        ...[program, "--model", whisperBase, "--language", language ?? "auto", "--output-txt"],
        ...["--threads", String(threads), "--beam-size", String(beam)],
        ...files.flatMap((file) => ["--file", file]),
        ...outputs.flatMap((output) => ["--output-file", output]),
      ]);
      const texts = await Promise.all(outputs.map((output) => Bun.file(`${output}.txt`).text()));
      return { ...readTimings(errors), cpuSeconds, peakBytes: { "whisper-cli": peakBytes }, texts };
    },
  }));
}

/** Runs a command and measures it. @throws {Error} with the end of its error output when it fails */
async function runMeasured(command: readonly string[]) {
  const child = Bun.spawn([...command], { stdio: ["ignore", "ignore", "pipe"] });
  using _stop = beforeStop(async () => {
    child.kill();
    await child.exited;
  });
  using watch = new PeakWatch(() => [["it", child.pid]]);
  const [errors] = await Promise.all([child.stderr.text(), child.exited]);
  if (child.exitCode !== 0) {
    throw new Error(`${command[0]} failed: ${errors.trim().split("\n").slice(-3).join(" / ")}`);
  }
  return {
    errors,
    cpuSeconds: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6,
    peakBytes: watch.peakBytes.it ?? 0,
  };
}

/** Names of its timings. Tokens are decoded one at a time, several at a time, or as the text of the previous window. */
const stepNames: Readonly<Record<string, string>> = {
  mel: "mel spectrum",
  encode: "encoder",
  prompt: "decoder, prompts",
  decode: "decoder, one token at a time",
  batchd: "decoder, tokens of several hypotheses",
  sample: "choice of tokens",
};

/**
 * Reads the timings that whisper.cpp prints, without the loading of the model. @throws {Error} when they are missing
 */
export function readTimings(output: string): Pick<Figures, "seconds" | "steps"> {
  const timings = new Map<string, { seconds: number; count: number | null }>();
  for (const [, name = "", milliseconds, count] of output.matchAll(
    /(\w+) time =\s*([\d.]+) ms(?: \/\s*(\d+) (?:runs|tokens))?/g,
  )) {
    timings.set(name, { seconds: Number(milliseconds) / 1000, count: count === undefined ? null : Number(count) });
  }
  const [total, load] = [timings.get("total"), timings.get("load")];
  if (total === undefined || load === undefined) throw new Error("whisper-cli printed no timings");
  return {
    seconds: total.seconds - load.seconds,
    steps: Object.entries(stepNames).flatMap(([name, step]) => {
      const timing = timings.get(name);
      return timing === undefined || timing.seconds === 0 ? [] : [{ name: step, ...timing }];
    }),
  };
}
