import { type Command, InvalidArgumentError } from "commander";
import { type Benchmark, type BenchmarkRow, runBenchmark } from "../diagnostics/index.ts";
import { messageOf, size } from "../text/index.ts";
import { CommandError } from "./command-error.ts";
import { InterruptedError, interruptible } from "./interrupts.ts";
import { type JsonOption, print, table } from "./output.ts";
import { positiveNumber } from "./parse-option.ts";
import { dataSettingsOf, settingsCommand } from "./settings-options.ts";
import { StatusLine } from "./status-line.ts";

const MAX_SECONDS = 3600;

/** transcribe bench */
export function benchCommand(): Command {
  const description = "Measure how many hours of audio this machine transcribes in an hour with the current model.";
  return settingsCommand("bench", description)
    .option("--seconds <number>", "approximate duration of the measurement", secondsOf, 60)
    .action(async (options: JsonOption & { seconds: number }, command: Command) => {
      const settings = dataSettingsOf(command);
      const benchmark = await interruptible(async (signal) => {
        using status = new StatusLine();
        const onStep = (step: string) => status.show(`${step} …`);
        return await runBenchmark({ settings, seconds: options.seconds, signal, onStep });
      }).catch((error: unknown) => {
        if (error instanceof InterruptedError) throw error;
        throw new CommandError(`can't measure: ${messageOf(error)} (transcribe doctor looks for the cause)`);
      });
      print(options, asJson(benchmark), () => report(benchmark));
    });
}

function secondsOf(text: string): number {
  const number = positiveNumber(text);
  if (number > MAX_SECONDS) throw new InvalidArgumentError(`It takes a whole number from 1 to ${MAX_SECONDS}.`);
  return number;
}

function report({ model, rows, notes }: Benchmark): string {
  const percent = (cost: number) => `${(100 * cost).toFixed(1)} %`;
  const measured = table(
    rows,
    {
      DEVICE: ({ device }) => device,
      THREADS: ({ threads }) => String(threads),
      "HOURS PER HOUR": ({ audioHoursPerHour }) => audioHoursPerHour.toFixed(1),
      SPEECH: ({ costs }) => percent(costs.detect),
      TEXT: ({ costs }) => percent(costs.transcribe),
      SPEAKERS: ({ costs }) => percent(costs.diarize),
      "WORKER'S MEMORY": ({ peakBytes }) => (peakBytes === null ? "-" : size(peakBytes)),
    },
    "nothing was measured",
  );
  return [measured, "", ...summary(model, rows, notes.length > 0), ...notes.map((note) => `Note: ${note}.`)].join("\n");
}

function summary(model: string, rows: readonly BenchmarkRow[], disturbed: boolean): string[] {
  const [first, second] = rows;
  if (first === undefined) return [];
  // When other programs interrupt threads, the threads wait for each other. This would not happen on an idle machine.
  const better = !disturbed && second !== undefined && second.audioHoursPerHour > 1.05 * first.audioHoursPerHour;
  return [
    `With ${model}, this machine transcribes ${hours(first.audioHoursPerHour)} of continuous speech in an hour, about ${Math.round(24 * first.audioHoursPerHour)} a day.`,
    `Five recordings of an hour each that are sent at once are completed after ${minutes(first.fiveHoursMinutes)}; pauses in the speech take almost no time.`,
    "SPEECH, TEXT and SPEAKERS: time of Speech detection, Transcription and Speaker diarization as a share of the audio's length.",
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
