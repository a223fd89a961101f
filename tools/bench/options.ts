import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { audioDirectory } from "../../harness/diarized-recording.ts";
import { messageOf } from "../../src/text/index.ts";
import { plan, type RecordingName } from "./recordings.ts";

const usage = `Compares the speed with other programs: scripts/bench [OPTION…]
Transcribes seven minutes of meetings, and of dialogues with a reference text, with three programs in turns: a server of
this checkout, whisper-cli built from the same sources, and faster-whisper with the same weights. Prints a table of
medians. faster-whisper is installed from the package registry into the cache. Unavailable programs are skipped.
On two cores a complete run takes a quarter of an hour, most of it for five recordings at once.

  --runs N            number of runs (default: 3)
  --only PART         run only the programs whose name contains PART: "transcribe", "batched"; repeatable
  --recording NAME    ${Object.keys(plan).join(" or ")}; repeatable
  --at-once N         send N copies of a recording at the same time: 1, 2 or 5; repeatable
  --threads N         number of threads for each program (default: one per processor)
  --language CODE     give the language to all programs; by default each detects it
  --gpu WHICH         let our program use a GPU: vulkan, or the path of CUDA's library. The number of operations at once
                      is measured first
  --json FILE         write the figures and transcripts of every run and the table to FILE
  --add FILE          include the runs of an earlier --json; repeatable, also with --runs 0
  --write             store the table in docs/benchmarks.md
  --audio DIRECTORY   use another corpus in the same format

Separate parts:
  scripts/bench api [--json]   response times of the API with 10,000 recordings in the database
  scripts/bench rows           time and memory of a server with 1,000, 100,000 and 1,000,000 recordings
  scripts/bench start          start time of a server, and its memory when idle
  scripts/bench fleet          scaling of a fleet, load on its coordinator, and overhead with one worker
  scripts/bench scale          cost of growth: more recordings at once, longer ones, more threads or devices
  scripts/bench gpu            each GPU with several operations at once, with Whisper base and a large model
  scripts/bench parakeet       the recognizer alone with a model of Parakeet's size and random weights
  scripts/bench exports        time and memory of exporting an 18 h transcript in every format
  scripts/bench whisper-cli    our whisper addon and whisper.cpp's own program with the same settings`;

const options = {
  runs: { type: "string", default: "3" },
  only: { type: "string", multiple: true, default: [] as string[] },
  recording: { type: "string", multiple: true, default: [] as string[] },
  "at-once": { type: "string", multiple: true, default: [] as string[] },
  threads: { type: "string", default: String(availableParallelism()) },
  language: { type: "string" },
  gpu: { type: "string" },
  json: { type: "string" },
  add: { type: "string", multiple: true, default: [] as string[] },
  write: { type: "boolean", default: false },
  audio: { type: "string", default: audioDirectory },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** A recording and its number of copies. */
export interface Round {
  readonly recording: RecordingName;
  readonly atOnce: number;
}

/** Parses the options. Prints the usage and exits on --help; exits with an error on an invalid option. */
export function readOptions(args: string[]) {
  const values = parse(args);
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  const names = Object.keys(plan) as RecordingName[];
  const counts: readonly number[] = [...new Set(names.flatMap((name) => plan[name]))];
  const atOnce = values["at-once"].map((value) => wholeNumber("--at-once", value, 1));
  const unknown = [
    ...values.recording.filter((name) => !names.some((known) => known === name)),
    ...atOnce.filter((count) => !counts.includes(count)),
  ];
  if (unknown.length > 0) refuse(`unknown value ${unknown.join(", ")}; known are ${[...names, ...counts].join(", ")}`);
  const rounds = names.flatMap((recording) => plan[recording].map((count): Round => ({ recording, atOnce: count })));
  const { only, language = null, gpu, json, add, write, audio } = values;
  return {
    ...{ only, language, gpu, json, add, write, audio },
    runs: wholeNumber("--runs", values.runs, 0),
    threads: wholeNumber("--threads", values.threads, 1),
    rounds: rounds.filter(
      (round) =>
        (values.recording.length === 0 || values.recording.includes(round.recording)) &&
        (atOnce.length === 0 || atOnce.includes(round.atOnce)),
    ),
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    return refuse(messageOf(error).split(". ")[0] ?? "");
  }
}

function wholeNumber(option: string, value: string, least: number): number {
  if (!/^\d{1,6}$/.test(value) || Number(value) < least) {
    refuse(`${option} is a whole number from ${least}, not ${value}`);
  }
  return Number(value);
}

/** Prints an error about the options and exits. */
export function refuse(reason: string): never {
  console.error(`bench: ${reason}; scripts/bench --help lists the options`);
  process.exit(2);
}
