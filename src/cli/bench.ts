import { Command, InvalidArgumentError } from "commander";
import { type Benchmark, type BenchmarkRow, runBenchmark } from "../diagnostics/index.ts";
import { messageOf, size } from "../text/index.ts";
import { interruptible } from "./client/interruptible.ts";
import { CommandError, InterruptedError } from "./command-error.ts";
import { print, table } from "./output.ts";
import { addSettingsOptions, dataSettingsOf } from "./settings-options.ts";
import { howMany } from "./whole-number.ts";

const [defaultSeconds, mostSeconds] = [60, 3600];

/** transcribe bench */
export function benchCommand(): Command {
  return addSettingsOptions(new Command("bench"), ["storage.data_dir"])
    .description("Measure how many hours of audio this machine transcribes in an hour, with the model in use.")
    .option("--seconds <number>", `about how long to measure (default: ${defaultSeconds})`, secondsOf)
    .option("--json", "print the figures as JSON")
    .action(async (options: { seconds?: number; json?: true }, command: Command) => {
      const settings = dataSettingsOf(command);
      const progress = process.stderr.isTTY === true;
      const onStep = (step: string) => {
        if (progress) process.stderr.write(`\r\x1b[K${step} …`);
      };
      const seconds = options.seconds ?? defaultSeconds;
      const benchmark = await interruptible((signal) => runBenchmark({ settings, seconds, signal, onStep }))
        .catch(explain)
        .finally(() => {
          if (progress) process.stderr.write("\r\x1b[K");
        });
      print(options.json === true, asJson(benchmark), () => report(benchmark));
    });
}

function explain(error: unknown): never {
  if (error instanceof InterruptedError) throw error;
  const reason = messageOf(error);
  throw new CommandError(`nothing can be measured: ${reason} (transcribe doctor looks for the cause)`);
}

function secondsOf(text: string): number {
  const number = howMany(text);
  if (number > mostSeconds) throw new InvalidArgumentError(`It takes a whole number from 1 to ${mostSeconds}.`);
  return number;
}

const head = ["DEVICE", "THREADS", "HOURS PER HOUR", "SPEECH", "TEXT", "SPEAKERS", "WORKER'S MEMORY"];

function report({ model, rows, notes }: Benchmark): string {
  const lines = rows.map((row) => [
    row.device,
    String(row.threads),
    row.audioHoursPerHour.toFixed(1),
    ...[row.costs.detect, row.costs.transcribe, row.costs.diarize].map((cost) => `${(100 * cost).toFixed(1)} %`),
    row.peakBytes === null ? "-" : size(row.peakBytes),
  ]);
  return [
    table(head, lines),
    "",
    ...summary(model, rows, notes.length > 0),
    ...notes.map((note) => `Note: ${note}.`),
  ].join("\n");
}

function summary(model: string, rows: readonly BenchmarkRow[], disturbed: boolean): string[] {
  const [first, second] = rows;
  if (first === undefined) return [];
  // When other programs interrupt threads, the threads wait for each other. This would not happen on an idle machine.
  const better = !disturbed && second !== undefined && second.audioHoursPerHour > 1.05 * first.audioHoursPerHour;
  return [
    `With ${model}, this machine transcribes ${hours(first.audioHoursPerHour)} of continuous speech in an hour, about ${Math.round(24 * first.audioHoursPerHour)} a day.`,
    `Five recordings of an hour that come at once are done after ${minutes(first.fiveHoursMinutes)}; pauses in the speech cost next to nothing.`,
    "SPEECH, TEXT and SPEAKERS: work of each step as a share of the audio's length.",
    ...(better && second.device === first.device
      ? [`Fewer threads are faster here: set engine.threads to ${second.threads}.`]
      : []),
    ...(better && second.device !== first.device ? [`The CPU is faster than the GPU (${first.device}) here.`] : []),
  ];
}

function hours(number: number): string {
  return number < 10 ? `${number.toFixed(1)} hours` : `${Math.round(number)} hours`;
}

function minutes(number: number): string {
  return number < 120 ? `${Math.max(1, Math.round(number))} minutes` : `${(number / 60).toFixed(1)} hours`;
}

function asJson({ model, rows, notes }: Benchmark) {
  return {
    model,
    rows: rows.map((row) => ({
      device: row.device,
      threads: row.threads,
      audio_hours_per_hour: row.audioHoursPerHour,
      five_recordings_of_an_hour_minutes: row.fiveHoursMinutes,
      seconds_per_audio_second: row.costs,
      language_seconds: row.languageSeconds,
      transcribed_seconds: row.transcribedSeconds,
      worker_peak_bytes: row.peakBytes,
    })),
    notes,
  };
}
