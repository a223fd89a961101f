import { type Command, InvalidArgumentError, Option } from "commander";
import { inSlots } from "../devices/index.ts";
import {
  type Benchmark,
  type BenchmarkRow,
  runBenchmark,
  runTuning,
  type TunedLanes,
  type Tunings,
} from "../diagnostics/index.ts";
import { count, messageOf, size } from "../text/index.ts";
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
    .addOption(
      new Option(
        "--tune",
        "measure how many operations each device runs best at once, and store it for the server",
      ).conflicts("seconds"),
    )
    .action(async (options: JsonOption & { seconds: number; tune?: boolean }, command: Command) => {
      const settings = dataSettingsOf(command);
      const measured = <T>(run: (signal: AbortSignal, onStep: (step: string) => void) => Promise<T>) =>
        interruptible(async (signal) => {
          using status = new StatusLine();
          return await run(signal, (step) => status.show(`${step} …`));
        }).catch((error: unknown) => {
          if (error instanceof InterruptedError) throw error;
          throw new CommandError(`can't measure: ${messageOf(error)} (transcribe doctor looks for the cause)`);
        });
      if (options.tune === true) {
        const tunings = await measured((signal, onStep) => runTuning({ settings, signal, onStep }));
        print(options, tuningsAsJson(tunings), () => reportTunings(tunings));
        return;
      }
      const { seconds } = options;
      const benchmark = await measured((signal, onStep) => runBenchmark({ settings, seconds, signal, onStep }));
      print(options, asJson(benchmark), () => report(benchmark));
    });
}

function reportTunings({ model, devices, stored, notes }: Tunings): string {
  const rows = devices.flatMap(({ device, measured, lanes, slots: best }) =>
    measured.map((speed) => {
      const { slots = 1 } = speed;
      return { ...speed, slots, device, isBest: speed.lanes === lanes && slots === best };
    }),
  );
  const measured = table(
    rows,
    {
      DEVICE: ({ device }) => device,
      "AT ONCE": ({ lanes, isBest }) => `${lanes}${isBest ? " *" : ""}`,
      TOGETHER: ({ slots }) => String(slots),
      THREADS: ({ threads }) => String(threads),
      "TIMES REAL TIME": ({ speed }) => speed.toFixed(1),
      "GPU MEMORY": ({ gpuBytes }) => (gpuBytes === undefined ? "-" : size(gpuBytes)),
    },
    "nothing was measured",
  );
  const use = stored ? " A server uses this from its next start on." : "";
  return [measured, "", ...devices.map((device) => `${chosenLanes(model, device)}${use}`), ...asNotes(notes)].join(
    "\n",
  );
}

function chosenLanes(model: string, { device, lanes, slots, failed, failedSlots }: TunedLanes): string {
  const failure = [
    ...(failed === null ? [] : [` With ${failed.lanes} at once the worker failed: ${failed.reason}.`]),
    ...(failedSlots === null
      ? []
      : [` With ${failedSlots.slots ?? 1} decoded together the worker failed: ${failedSlots.reason}.`]),
  ].join("");
  if (lanes !== null)
    return `With ${model}, ${count(lanes, "operation")} at once${inSlots({ slots })} ${lanes === 1 ? "is" : "are"} best on ${device}.${failure}`;
  if (failure !== "") return `${device}:${failure}`;
  return `${device}: with four threads or fewer, one operation for each thread is best, and nothing is measured.`;
}

function asNotes(notes: readonly string[]): string[] {
  return notes.map((note) => `Note: ${note}.`);
}

function tuningsAsJson({ model, devices, stored, notes }: Tunings) {
  return {
    model,
    devices: devices.map(({ device, name, lanes, slots, measured, failed, failedSlots }) => ({
      device,
      name,
      lanes,
      // Earlier versions named the slots joint_states.
      ...(slots > 1 ? { decoder_slots: slots, joint_states: slots } : {}),
      measured: measured.map((speed) => ({
        lanes: speed.lanes,
        threads: speed.threads,
        times_real_time: speed.speed,
        gpu_memory_bytes: speed.gpuBytes ?? null,
        ...(speed.slots === undefined ? {} : { decoder_slots: speed.slots, joint_states: speed.slots }),
      })),
      failed,
      ...(failedSlots === null ? {} : { failed_slots: failedSlots, failed_joint: failedSlots }),
    })),
    stored,
    notes,
  };
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
  return [measured, "", ...summary(model, rows, notes.length > 0), ...asNotes(notes)].join("\n");
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
