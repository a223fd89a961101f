import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { messageOf } from "../../../src/text/index.ts";
import { audioDirectory } from "../../../test/speech/diarization/recording.ts";
import { plan, type RecordingName } from "./recordings.ts";

const usage = `How fast, beside what else there is: scripts/bench [OPTION…]
Sends seven minutes of meetings, and as much of dialogues whose words are known, through a server of this checkout,
whisper-cli built of the same tree, and faster-whisper with the same weights, in turns, and prints one table of medians.
faster-whisper comes from the package registry into a folder of its own in the cache; who can't be had is left out.
On two cores a run of everything takes a quarter of an hour, most of it for five recordings at once.

  --runs N            how often each is run (3)
  --only PART         those alone whose name has this part: "transcribe", "batched"; may be given more than once
  --recording NAME    ${Object.keys(plan).join(" or ")}; may be given more than once
  --at-once N         so many of a recording at the same time, of 1, 2 and 5; may be given more than once
  --threads N         that each may use (one for each processor)
  --language CODE     tell everybody the language; without it each finds it out
  --json FILE         every run's figures, texts and the table
  --add FILE          count the runs that an earlier --json kept; may be given more than once, with --runs 0 too
  --write             keep the table in docs/benchmarks.md
  --audio DIRECTORY   another corpus of the same form

Parts by themselves:
  scripts/bench api [--json]   how fast the API answers with 10,000 recordings in the database
  scripts/bench rows           what a server takes with 1,000, 100,000 and 1,000,000 recordings in its database
  scripts/bench start          how long a server takes to start, and what it holds when nothing is to do
  scripts/bench exports        what exporting an 18 h transcript takes in every format
  scripts/bench whisper-cli    our whisper addon beside whisper.cpp's own program, the same settings for both`;

const options = {
  runs: { type: "string", default: "3" },
  only: { type: "string", multiple: true, default: [] as string[] },
  recording: { type: "string", multiple: true, default: [] as string[] },
  "at-once": { type: "string", multiple: true, default: [] as string[] },
  threads: { type: "string", default: String(availableParallelism()) },
  language: { type: "string" },
  json: { type: "string" },
  add: { type: "string", multiple: true, default: [] as string[] },
  write: { type: "boolean", default: false },
  audio: { type: "string", default: audioDirectory },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** A recording, and how often it is sent at once. */
export interface Round {
  readonly recording: RecordingName;
  readonly atOnce: number;
}

/** What is asked for. Prints how to ask and ends the process where --help is given, or anything that is wrong. */
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
  if (unknown.length > 0) refuse(`there is no ${unknown.join(", ")}; there are ${[...names, ...counts].join(", ")}`);
  const rounds = names.flatMap((recording) => plan[recording].map((count): Round => ({ recording, atOnce: count })));
  const { only, language = null, json, add, write, audio } = values;
  return {
    ...{ only, language, json, add, write, audio },
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

/** What was asked for is wrong: ends the process. */
export function refuse(why: string): never {
  console.error(`bench: ${why}; scripts/bench --help says what there is`);
  process.exit(2);
}
