import { availableParallelism } from "node:os";
import { cpuSettings, gpuOf } from "../../harness/device.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { messageOf } from "../../src/text/index.ts";
import { corpusOption, fasterWhisperVersion, installFasterWhisper, requireCorpus } from "../corpus/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { cpuOption, fasterWhisperSettings } from "../shared/cpu-variant.ts";
import { flag, someOf, text, texts, UsageError, whole } from "../shared/options.ts";
import { CommandError } from "../shared/run-command.ts";
import { asMarkdown, asText, writeGenerated } from "../shared/table.ts";
import { type Bench, type Competitor, type CompetitorFactory, type RunSettings, readRuns } from "./competitor.ts";
import { type BenchRecording, makeRecording, plan, recordingNames } from "./recordings.ts";
import { describe, kernelsOf, overview, rowsOf, stepsTable, wordErrorsOf } from "./run-tables.ts";
import { ourName, transcribe } from "./transcribe.ts";
import { whisperCpp } from "./whisper-cpp.ts";

const entries: Readonly<Record<string, CompetitorFactory>> = {
  transcribe: async (settings) => [transcribe(settings)],
  "whisper-cli": whisperCpp,
  "faster-whisper": fasterWhisper,
};
const COPIES = [...new Set(recordingNames.flatMap((name) => plan[name]))].map(String);

interface Round {
  readonly recording: BenchRecording;
  readonly atOnce: number;
}

export const command = defineCommand({
  name: "scripts/bench",
  about:
    "Compares the speed with other programs. Transcribes seven minutes of meetings, and of dialogues with a reference " +
    "text, with three programs in turns: a server of this checkout, whisper-cli built from the same sources, and " +
    "faster-whisper with the same weights. Prints a table of medians. faster-whisper is installed from the package " +
    "registry into the cache. Unavailable programs are skipped. On two cores a complete run takes a quarter of an hour, " +
    "most of it for five recordings at once.",
  options: {
    runs: whole("number of runs", { least: 0, fallback: 3 }),
    only: texts("PART", 'run only the programs whose name contains PART: "transcribe", "batched"'),
    recording: someOf("NAME", "recordings to transcribe", recordingNames),
    atOnce: someOf("N", "numbers of copies that are sent at the same time", COPIES),
    threads: whole("number of threads for each program", { fallback: availableParallelism() }),
    language: text("CODE", "give the language to all programs; by default each detects it"),
    cpu: cpuOption,
    gpu: text(
      "WHICH",
      "let our program use a GPU: vulkan, or the path of CUDA's library. The number of operations at once is measured first",
    ),
    json: text("FILE", "write the figures and transcripts of every run and the table to FILE"),
    add: texts("FILE", "include the runs of an earlier --json, also with --runs 0"),
    write: flag("store the table in docs/benchmarks.md"),
    audio: corpusOption,
  },
  async run({ runs: times, only, threads, language, cpu, gpu, add, audio, ...values }) {
    const bench = { ...(await circumstances(Date.now())), threads, language, cpu };
    const runs = await readRuns(add, bench).catch((error: unknown) => {
      throw new UsageError(messageOf(error));
    });
    requireCorpus(audio);
    using folder = temporaryDirectory();
    const added = runs.map(({ recording }) => recording);
    const names = recordingNames.filter((name) => values.recording.includes(name) || added.includes(name));
    const recordings = await Promise.all(names.map((name) => makeRecording(name, audio, folder.path)));
    const rounds = recordings
      .filter(({ name }) => values.recording.includes(name))
      .flatMap((recording) => plan[recording.name].map((atOnce): Round => ({ recording, atOnce })))
      .filter(({ atOnce }) => values.atOnce.includes(String(atOnce)));
    if (times > 0) {
      const device = gpu === null ? null : await gpuOf(gpu);
      const settings = { threads, language, cpu, cpuSettings: await cpuSettings(cpu), gpu: device };
      const competitors = await competitorsFor(settings, only);
      for (let turn = 0; turn < times; turn++) await runAll(competitors, turn, rounds, runs);
    }
    await printReport({ ...bench, runs }, recordings, values);
  },
});

/** Returns the selected competitors that are available, and reports the others. */
async function competitorsFor(settings: RunSettings, only: readonly string[]): Promise<Competitor[]> {
  const found: Competitor[] = [];
  for (const [name, enter] of Object.entries(entries)) {
    try {
      found.push(...(await enter(settings)));
    } catch (error) {
      console.error(`bench: ${name} is skipped: ${messageOf(error)}`);
    }
  }
  const wanted = found.filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)));
  if (wanted.length > 0) return wanted;
  throw new CommandError(`no program is selected from ${found.map(({ name }) => name).join("; ")}`);
}

/** Default batch size of faster-whisper. */
const DEFAULT_BATCH = 8;
const VARIANTS = [
  { name: "greedy", beam: 1, batch: 0 },
  { name: "beam 5", beam: 5, batch: 0 },
  { name: "batched, greedy", beam: 1, batch: DEFAULT_BATCH },
  { name: "batched, beam 5", beam: 5, batch: DEFAULT_BATCH },
];

/** Prepares faster-whisper in int8, its fastest type on a CPU, with the weights of our default model. */
async function fasterWhisper({ threads, language, cpu }: RunSettings): Promise<Competitor[]> {
  const ask = await installFasterWhisper(fasterWhisperSettings(cpu));
  return VARIANTS.map(({ name, beam, batch }) => ({
    name: `faster-whisper ${fasterWhisperVersion} int8, ${name}`,
    async run(files) {
      const answer = await ask({ threads, language, computeType: "int8", beam, batch }, files);
      const { seconds, cpu_seconds: cpuSeconds, peak_bytes: python, answers } = answer;
      return { seconds, cpuSeconds, peakBytes: { python }, steps: [], texts: answers.map(({ text }) => text) };
    },
  }));
}

/** Runs every competitor once and adds its runs. The first one changes from turn to turn. */
async function runAll(
  competitors: readonly Competitor[],
  turn: number,
  rounds: readonly Round[],
  runs: Bench["runs"],
): Promise<void> {
  const first = turn % competitors.length;
  for (const { recording, atOnce } of rounds) {
    for (const { name, run } of [...competitors.slice(first), ...competitors.slice(0, first)]) {
      const report = (message: string) =>
        console.error(`run ${turn + 1}, ${recording.name}, ${atOnce} at once, ${name}: ${message}`);
      try {
        const figures = await run(Array.from({ length: atOnce }, () => recording.file));
        runs.push({ recording: recording.name, atOnce, by: name, figures });
        report(`${figures.seconds.toFixed(1)} s`);
      } catch (error) {
        report(`failed: ${messageOf(error)}`);
        process.exitCode = 1;
      }
    }
  }
}

async function printReport(
  bench: Bench,
  recordings: readonly BenchRecording[],
  { json, write }: { readonly json: string | null; readonly write: boolean },
): Promise<void> {
  if (bench.runs.length === 0) throw new CommandError("there are no runs for a table");
  const errorsIn = await wordErrorsOf(recordings, bench.runs).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    console.error(`bench: word errors are not counted: ${error.message}`);
    return () => null;
  });
  const rows = rowsOf(bench.runs, { recordings, ours: ourName, errorsIn });
  const [table, steps] = [overview(rows), stepsTable(rows)];
  const kernels = kernelsOf(bench.runs).map((text) => `CPU kernels of Transcribe: ${text}`);
  for (const line of [describe(bench, rows), ...kernels]) console.log(line);
  for (const { name, seconds, contents } of recordings) console.log(`${name}: ${Math.round(seconds)} s, ${contents}`);
  console.log(`\n${asText(table)}\n\n${asText(steps)}`);
  if (json !== null) await Bun.write(json, `${JSON.stringify({ ...bench, recordings, rows }, null, 2)}\n`);
  if (!write) return;
  const note = "Time by step, for programs that report it:";
  const head = [`${describe(bench, rows)}:`, ...kernels.map((line) => `${line}.`)];
  const text = [...head, asMarkdown(table), note, asMarkdown(steps)].join("\n\n");
  writeGenerated("docs/benchmarks.md", "scripts/bench --write", text);
}
