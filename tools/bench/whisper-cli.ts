import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildNativeWhisperCli, defaultCacheRoot } from "../../native/build.ts";
import { loadGgml } from "../../src/speech/ggml.ts";
import { openModel } from "../../src/speech/recognizer/whisper/index.ts";
import { root } from "../shared/checkout.ts";
import { median } from "./table.ts";

/**
 * Compares the addon's speed with whisper.cpp's own command line program, whisper-cli: with the same libraries, model,
 * settings and recording. Each run is a process, in turns.
 *
 *     scripts/bench whisper-cli [recording] [--runs 5] [--threads 2] [--beam-size 5]
 */

const nativeDirectory = join(root, "build", "native");
const model = join(root, "build", "models", "ggml-base.bin");
const ffmpeg = join(root, "build", "media-tool", "ffmpeg");
const defaultRecording = resolve(root, "../shared/audio/dialogue/dlg-02-2spk-MM.flac");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: "string", default: "5" },
    threads: { type: "string", default: String(availableParallelism()) },
    "beam-size": { type: "string", default: "5" },
    child: { type: "boolean", default: false },
  },
});
const threads = Number(values.threads);
const beamSize = Number(values["beam-size"]);
const recording = positionals[0] ?? defaultRecording;

if (values.child) {
  process.stdout.write(await transcribeWave(recording));
} else {
  await compare(Number(values.runs));
}

/** Does with the addon what whisper-cli does. */
async function transcribeWave(path: string): Promise<string> {
  const pcm = new Int16Array(await Bun.file(path).slice(44).arrayBuffer());
  const samples = Float32Array.from(pcm, (sample) => sample / 32768);
  const opened = openModel(loadGgml({ nativeDirectory }), model, true);
  const { segments } = await opened.createState().transcribe(samples, { language: "en", threads, beamSize });
  return segments.map((segment) => segment.text).join("");
}

async function compare(runs: number): Promise<void> {
  const cacheRoot = defaultCacheRoot();
  const whisperCli = await buildNativeWhisperCli({ cacheRoot, log: (line) => console.error(line) });
  const work = await mkdtemp(join(tmpdir(), "transcribe-bench-"));
  try {
    const wave = join(work, "recording.wav");
    const bitexact = ["-fflags", "+bitexact", "-flags:a", "+bitexact"];
    await finish([ffmpeg, "-v", "error", "-i", recording, "-ac", "1", "-ar", "16000", ...bitexact, wave]);
    const settings = ["--threads", String(threads), "--beam-size", String(beamSize)];
    const textFile = join(work, "text");
    const commands = {
      // The text goes into a file, because the output with alignment lacks segments.
      "whisper-cli": [
        ...[whisperCli, "-m", model, "-f", wave, "-l", "en", "-dtw", "base", "-fa", "-np", "-otxt", "-of", textFile],
        ...settings,
      ],
      addon: [process.execPath, import.meta.path, "--child", wave, ...settings],
    };
    const runsOf: Record<keyof typeof commands, Run[]> = { "whisper-cli": [], addon: [] };
    for (let run = 0; run < runs; run++) {
      for (const name of ["whisper-cli", "addon"] as const) {
        const finished = await finish(commands[name]);
        runsOf[name].push(finished);
        console.error(`${name}: ${finished.wallSeconds.toFixed(2)} s, ${finished.cpuSeconds.toFixed(2)} s of CPU`);
      }
    }
    console.log(`${recording}, ${runs} runs each, ${threads} threads, beam size ${beamSize}; medians`);
    report("time", runsOf["whisper-cli"], runsOf.addon, (run) => run.wallSeconds);
    report("CPU time", runsOf["whisper-cli"], runsOf.addon, (run) => run.cpuSeconds);
    const [cliText, addonText] = [await Bun.file(`${textFile}.txt`).text(), runsOf.addon[0]?.output ?? ""].map(
      inOneLine,
    );
    console.log(`same text: ${cliText === addonText ? "yes" : "no"}`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

interface Run {
  output: string;
  wallSeconds: number;
  /** CPU time of all threads; other load on the machine affects it less. */
  cpuSeconds: number;
}

function report(what: string, cli: Run[], addon: Run[], figure: (run: Run) => number): void {
  const [cliSeconds, addonSeconds] = [median(cli.map(figure)), median(addon.map(figure))];
  const ratio = (addonSeconds / cliSeconds).toFixed(3);
  console.log(
    `${what.padEnd(8)}  whisper-cli ${cliSeconds.toFixed(2)} s  addon ${addonSeconds.toFixed(2)} s  ratio ${ratio}`,
  );
}

/** Runs a command. @throws {Error} with the end of its error output when it fails */
async function finish(command: string[]): Promise<Run> {
  const start = performance.now();
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) {
    throw new Error(`${command[0]} failed: ${errors.trim().split("\n").slice(-5).join("\n")}`);
  }
  const microseconds = child.resourceUsage()?.cpuTime.total ?? 0;
  return { output, wallSeconds: (performance.now() - start) / 1000, cpuSeconds: Number(microseconds) / 1e6 };
}
