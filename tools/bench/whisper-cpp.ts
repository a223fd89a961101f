import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildNativeWhisperCli, defaultCacheRoot } from "../../native/build.ts";
import { root } from "../shared/checkout.ts";
import { beforeStop, PeakWatch } from "../shared/processes.ts";
import { runCommand } from "../shared/run-command.ts";
import type { Competitor, Figures, RunSettings } from "./competitor.ts";

const model = join(root, "build/models/ggml-base.bin");
const VARIANTS = [
  { name: "greedy", beam: 1 },
  { name: "beam 5", beam: 5 },
];

/**
 * Prepares whisper.cpp's own program, built from the same sources as our addon, with the same model and otherwise
 * default settings.
 */
export async function whisperCpp(terms: RunSettings): Promise<Competitor[]> {
  const program = await buildNativeWhisperCli({
    cacheRoot: defaultCacheRoot(),
    log: (line) => console.error(line),
  });
  const version = /version: (\S+)/.exec(await runCommand([program, "--version"]))?.[1] ?? "";
  return VARIANTS.map(({ name, beam }) => ({
    name: `whisper-cli ${version}, ${name}`,
    run: (files) => transcribe(program, files, { ...terms, beam }),
  }));
}

async function transcribe(
  program: string,
  files: readonly string[],
  { threads, language, beam }: RunSettings & { beam: number },
): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), "transcribe-bench-"));
  try {
    const outputs = files.map((_, index) => join(folder, String(index)));
    const child = Bun.spawn(
      [
        ...[program, "--model", model, "--language", language ?? "auto", "--output-txt"],
        ...["--threads", String(threads), "--beam-size", String(beam)],
        ...files.flatMap((file) => ["--file", file]),
        ...outputs.flatMap((output) => ["--output-file", output]),
      ],
      { stdin: "ignore", stdout: "ignore", stderr: "pipe" },
    );
    using _stop = beforeStop(async () => {
      child.kill();
      await child.exited;
      await rm(folder, { recursive: true });
    });
    using watch = new PeakWatch(() => [["whisper-cli", child.pid]]);
    const [output] = await Promise.all([child.stderr.text(), child.exited]);
    if (child.exitCode !== 0) throw new Error(`whisper-cli failed: ${output.trim().split("\n").slice(-3).join(" / ")}`);
    return {
      ...readTimings(output),
      cpuSeconds: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6,
      peakBytes: watch.peakBytes,
      texts: await Promise.all(outputs.map((output) => Bun.file(`${output}.txt`).text())),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
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
