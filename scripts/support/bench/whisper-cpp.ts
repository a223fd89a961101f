import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildNativeWhisperCli, defaultCacheRoot } from "../../../native/build.ts";
import { root } from "../checkout.ts";
import { beforeStop, PeakWatch } from "../processes.ts";
import { runCommand } from "../run-command.ts";
import type { Competitor, Figures, RunSettings } from "./competitor.ts";

const model = join(root, "build/models/ggml-base.bin");
const ways = [
  { name: "greedy", beam: 1 },
  { name: "beam 5", beam: 5 },
];

/** whisper.cpp's own program, built of the tree that our addon is built of, with the same model; all else as it comes. */
export async function whisperCpp(terms: RunSettings): Promise<Competitor[]> {
  const program = await buildNativeWhisperCli({
    cacheRoot: defaultCacheRoot(),
    log: (line) => console.error(line),
  });
  const version = /version: (\S+)/.exec(await runCommand([program, "--version"]))?.[1] ?? "";
  return ways.map(({ name, beam }) => ({
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
    const [told] = await Promise.all([child.stderr.text(), child.exited]);
    if (child.exitCode !== 0) throw new Error(`whisper-cli failed: ${told.trim().split("\n").slice(-3).join(" / ")}`);
    return {
      ...readTimings(told),
      cpuSeconds: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6,
      peakBytes: watch.peakBytes,
      texts: await Promise.all(outputs.map((output) => Bun.file(`${output}.txt`).text())),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What each of its lines stands for; tokens come one at a time, several at a time, or as the text of the window before. */
const stepNames: Readonly<Record<string, string>> = {
  mel: "mel spectrum",
  encode: "encoder",
  prompt: "decoder, prompts",
  decode: "decoder, one token at a time",
  batchd: "decoder, tokens of several hypotheses",
  sample: "choice of tokens",
};

/** What whisper.cpp says at its end of its time, the loading of the model left out. @throws Error where it says nothing */
export function readTimings(told: string): Pick<Figures, "seconds" | "steps"> {
  const timings = new Map<string, { seconds: number; count: number | null }>();
  for (const [, name = "", milliseconds, count] of told.matchAll(
    /(\w+) time =\s*([\d.]+) ms(?: \/\s*(\d+) (?:runs|tokens))?/g,
  )) {
    timings.set(name, { seconds: Number(milliseconds) / 1000, count: count === undefined ? null : Number(count) });
  }
  const [total, load] = [timings.get("total"), timings.get("load")];
  if (total === undefined || load === undefined) throw new Error("whisper-cli says nothing of its time");
  return {
    seconds: total.seconds - load.seconds,
    steps: Object.entries(stepNames).flatMap(([name, step]) => {
      const timing = timings.get(name);
      return timing === undefined || timing.seconds === 0 ? [] : [{ name: step, ...timing }];
    }),
  };
}
